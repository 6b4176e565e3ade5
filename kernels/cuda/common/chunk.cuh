/* SPDX-License-Identifier: MIT */
/* Chunks: a number of neighbouring elements of any type that a thread moves together, so that
 * arrays of different types are walked in step; and sums of doubles over a block. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"

#include <type_traits>

namespace lig
{
template <class T, int N> struct alignas (sizeof (T) * N < 16 ? sizeof (T) * N : 16) Chunk {
  T v[N];
};

/* Whether Vector and Target serve the type. */
inline bool
floating (LigDtype dtype)
{
  return dtype == LIG_FP32 || dtype == LIG_FP16 || dtype == LIG_BF16;
}

/* Elements in a chunk where arrays of both types are read: 16 bytes of the longer one. */
template <class T, class U>
constexpr int shared_width = 16 / (int) (sizeof (T) > sizeof (U) ? sizeof (T) : sizeof (U));

template <int N, class T>
__device__ inline Chunk<T, N>
load_chunk (const T *from)
{
  return *reinterpret_cast<const Chunk<T, N> *> (from);
}

template <class T, int N>
__device__ inline void
store_chunk (T *to, const Chunk<T, N> &chunk)
{
  *reinterpret_cast<Chunk<T, N> *> (to) = chunk;
}

/* The elements as floats, and back. Pairs of 16-bit elements are taken as the words they lie in:
 * taken one by one each of them would occupy a register. */
template <class T, int N>
__device__ inline void
unpack (const Chunk<T, N> &chunk, float (&values)[N])
{
  if constexpr (sizeof (T) == 4 || N % 2) {
#pragma unroll
    for (int i = 0; i < N; i++)
      values[i] = widen (chunk.v[i]);
  } else {
    const uint32_t *words = reinterpret_cast<const uint32_t *> (chunk.v);
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
      uint32_t word = words[i];
      if constexpr (std::is_same_v<T, bf16>) {
        values[2 * i] = __uint_as_float (word << 16);
        values[2 * i + 1] = __uint_as_float (word & 0xffff0000u);
      } else {
        float2 pair = __half22float2 (*reinterpret_cast<half2 *> (&word));
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
      }
    }
  }
}

template <class T, int N>
__device__ inline void
pack (const float (&values)[N], Chunk<T, N> &chunk)
{
  if constexpr (sizeof (T) == 4 || N % 2) {
#pragma unroll
    for (int i = 0; i < N; i++)
      chunk.v[i] = narrow<T> (values[i]);
  } else {
    uint32_t *words = reinterpret_cast<uint32_t *> (chunk.v);
#pragma unroll
    for (int i = 0; i < N / 2; i++)
      if constexpr (std::is_same_v<T, bf16>) {
        __nv_bfloat162 pair = __floats2bfloat162_rn (values[2 * i], values[2 * i + 1]);
        words[i] = *reinterpret_cast<uint32_t *> (&pair);
      } else {
        half2 pair = __floats2half2_rn (values[2 * i], values[2 * i + 1]);
        words[i] = *reinterpret_cast<uint32_t *> (&pair);
      }
  }
}

/* The sum over all threads of the block, known to all of them, in an order that depends on the
 * block's size alone. Every thread must call it. */
template <class T>
__device__ inline T
block_total (T value)
{
  __shared__ T parts[32];
  int lane = (int) threadIdx.x % 32, warps = ((int) blockDim.x + 31) / 32;
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_xor_sync (0xffffffffu, value, offset);
  /* What a call before left there was read by all. */
  __syncthreads ();
  if (lane == 0)
    parts[threadIdx.x / 32] = value;
  __syncthreads ();
  value = lane < warps ? parts[lane] : T (0);
  for (int offset = 16; offset > 0; offset >>= 1)
    value += __shfl_xor_sync (0xffffffffu, value, offset);
  return value;
}
} /* namespace lig */
