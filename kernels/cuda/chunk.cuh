/* SPDX-License-Identifier: MIT */
/* Chunks: a number of neighbouring elements of any type that a thread moves together, so that
 * arrays of different types are walked in step; and sums of doubles over a block. */
#pragma once

#include "kernels/cuda/cuda.cuh"

namespace lig
{
template <class T, int N> struct alignas (sizeof (T) * N < 16 ? sizeof (T) * N : 16) Chunk {
  T v[N];
};

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
