/* SPDX-License-Identifier: MIT */
/* Element types, packs of neighbouring elements for vectorized accesses, and the only place that
 * converts them to fp32 and back. Kernels compute in fp32 and round each result once. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

namespace lig
{
using half = __half;
using bf16 = __nv_bfloat16;

/* Returns one element as fp32, which is exact. */
__device__ inline float
widen (float value)
{
  return value;
}
__device__ inline float
widen (half value)
{
  return __half2float (value);
}
__device__ inline float
widen (bf16 value)
{
  return __bfloat162float (value);
}

/* Returns the element of type T that is nearest to the value; ties go to even. */
template <class T> __device__ inline T narrow (float value);
template <>
__device__ inline float
narrow<float> (float value)
{
  return value;
}
template <>
__device__ inline half
narrow<half> (float value)
{
  return __float2half_rn (value);
}
template <>
__device__ inline bf16
narrow<bf16> (float value)
{
  return __float2bfloat16_rn (value);
}

/* The number of elements in 16 bytes. */
template <class T> constexpr int wide = 16 / (int) sizeof (T);

/* The number of elements in a chunk for a kernel that processes arrays of both types in step: 16
 * bytes of the wider type. */
template <class T, class U>
constexpr int shared_width = 16 / (int) (sizeof (T) > sizeof (U) ? sizeof (T) : sizeof (U));

/* N neighbouring elements, aligned so that one instruction moves them if they fit into 16 bytes. */
template <class T, int N> struct alignas (sizeof (T) * N < 16 ? sizeof (T) * N : 16) Chunk {
  T v[N];
};

/* A chunk of 16 bytes. */
template <class T> using Pack = Chunk<T, wide<T>>;

/* A pack as four words that are converted only where they are used. A Pack would be unpacked at
 * once to one register per element, twice as many, and the thread would stall on the load before it
 * issues the next. */
template <class T> struct Words {
  uint4 bits;
};

/* Converts the two 16-bit elements of a word. Converted separately, each would occupy a
 * register. */
template <class T>
__device__ inline void
widen_pair (uint32_t word, float &first, float &second)
{
  if constexpr (std::is_same_v<T, bf16>) {
    first = __uint_as_float (word << 16);
    second = __uint_as_float (word & 0xffff0000u);
  } else {
    float2 pair = __half22float2 (*reinterpret_cast<const half2 *> (&word));
    first = pair.x;
    second = pair.y;
  }
}

/* Rounds two numbers to 16 bits each by a single instruction. */
template <class T>
__device__ inline uint32_t
narrow_pair (float first, float second)
{
  if constexpr (std::is_same_v<T, bf16>) {
    __nv_bfloat162 pair = __floats2bfloat162_rn (first, second);
    return *reinterpret_cast<uint32_t *> (&pair);
  } else {
    half2 pair = __floats2half2_rn (first, second);
    return *reinterpret_cast<uint32_t *> (&pair);
  }
}

/* Converts all elements of a chunk to fp32. */
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
    for (int i = 0; i < N / 2; i++)
      widen_pair<T> (words[i], values[2 * i], values[2 * i + 1]);
  }
}

template <class T>
__device__ inline void
unpack (const Words<T> &pack, float (&values)[wide<T>])
{
  const uint32_t words[4] = {pack.bits.x, pack.bits.y, pack.bits.z, pack.bits.w};
#pragma unroll
  for (int i = 0; i < 4; i++)
    if constexpr (sizeof (T) == 4)
      values[i] = __uint_as_float (words[i]);
    else
      widen_pair<T> (words[i], values[2 * i], values[2 * i + 1]);
}

/* Rounds values to the elements of a chunk. */
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
      words[i] = narrow_pair<T> (values[2 * i], values[2 * i + 1]);
  }
}

template <class T>
__device__ inline void
pack (const float (&values)[wide<T>], Words<T> &pack)
{
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; i++)
    if constexpr (sizeof (T) == 4)
      words[i] = __float_as_uint (values[i]);
    else
      words[i] = narrow_pair<T> (values[2 * i], values[2 * i + 1]);
  pack.bits = make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Loads a chunk; `from` is aligned to its size. */
template <int N, class T>
__device__ inline Chunk<T, N>
load_chunk (const T *from)
{
  return *reinterpret_cast<const Chunk<T, N> *> (from);
}

/* Loads 16 bytes that are not reused soon, with the cache policy evict-first. */
template <class T>
__device__ inline Pack<T>
load_streaming (const T *from)
{
  uint4 bits = __ldcs (reinterpret_cast<const uint4 *> (from));
  return *reinterpret_cast<Pack<T> *> (&bits);
}

/* Loads 16 bytes that no kernel writes in the meantime (non-coherent load). */
template <class T>
__device__ inline Pack<T>
load_constant (const T *from)
{
  uint4 bits = __ldg (reinterpret_cast<const uint4 *> (from));
  return *reinterpret_cast<Pack<T> *> (&bits);
}

template <class T, int N>
__device__ inline void
store_chunk (T *to, const Chunk<T, N> &chunk)
{
  *reinterpret_cast<Chunk<T, N> *> (to) = chunk;
}

/* Stores a pack by an explicit vector instruction: the compiler would split an assignment into one
 * store per element or word where it does not see that these are adjacent. */
template <class T>
__device__ inline void
store_chunk (T *to, const Words<T> &words)
{
  __stwb (reinterpret_cast<uint4 *> (to), words.bits);
}
} /* namespace lig */
