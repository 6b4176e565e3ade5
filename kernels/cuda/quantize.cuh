/* SPDX-License-Identifier: MIT */
/* Quantized copies of a matrix [M, K] with their scales, for any source of its elements;
 * kernels/cpu/quantize.c is the bitwise reference. A threadblock processes tiles of 128 by 128
 * elements of a source, and its threads write both copies, 8 by 8 elements each, as rows and,
 * through shared memory, as columns. Lower bound: the source is read once, and each copy written
 * once. Scales that cover more than a tile, those of whole rows or of the whole matrix, need one
 * pass more. */
#pragma once

#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/fail.h"
#include "kernels/quantize.h"
#include <ligature/params-quantize.h>

#include <cuda_fp8.h>

/* Devices before 8.9 cannot convert to these formats. A build for several architectures has empty
 * kernels for them, which are never launched. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#define LIG_QUANTIZES 0
#else
#define LIG_QUANTIZES 1
#endif

namespace lig
{
/* Rejects a launch on a device for which the build has only empty kernels. The build defines the
 * compute capability from which they are not empty. */
inline LigStatus
reject_older (LigLaunch *launch)
{
  if (launch->device->capability < LIG_QUANTIZES_FROM)
    return LIG_FAIL (
      launch, LIG_UNSUPPORTED,
      "quantize: this build does not support this GPU; use one of compute capability "
      "8.9 and a build with -Dcuda-architectures=all");
  return LIG_OK;
}

enum {
  EDGE = LIG_SCALES_EDGE,
  SIDE = 8, /* a thread has SIDE x SIDE elements */
  ACROSS = EDGE / SIDE,
  PAIRS = SIDE / 2,
  WARPS = THREADS / 32
};

/* The values that a function of a source needs for a row or for columns if it needs none. */
struct Nothing {
};

/* Two neighbouring elements, rounded. */
template <class T> struct Pair {
  uint32_t bits;
};
template <> struct Pair<float> {
  float first, second;
};

/* The elements of a thread. */
template <class T> struct Square {
  Pair<T> rows[SIDE][PAIRS];
};

template <class T>
__device__ inline void
split (Pair<T> pair, float &first, float &second)
{
  if constexpr (std::is_same_v<T, float>) {
    first = pair.first;
    second = pair.second;
  } else {
    widen_pair<T> (pair.bits, first, second);
  }
}

template <class T>
__device__ inline Pair<T>
join (float first, float second)
{
  if constexpr (std::is_same_v<T, float>)
    return Pair<float>{first, second};
  else
    return Pair<T>{narrow_pair<T> (first, second)};
}

/* Returns the magnitudes of two elements. */
template <class T>
__device__ inline Pair<T>
magnitudes (Pair<T> pair)
{
  if constexpr (std::is_same_v<T, float>) {
    return Pair<float>{fabsf (pair.first), fabsf (pair.second)};
  } else {
    using Two = std::conditional_t<std::is_same_v<T, bf16>, __nv_bfloat162, half2>;
    Two both = __habs2 (*reinterpret_cast<Two *> (&pair));
    return *reinterpret_cast<Pair<T> *> (&both);
  }
}

/* Combines two pairs of numbers. */
template <class T, class F>
__device__ inline Pair<T>
combined (Pair<T> a, Pair<T> b, F f)
{
  if constexpr (std::is_same_v<T, float>) {
    return Pair<float>{f (a.first, b.first), f (a.second, b.second)};
  } else {
    using Two = std::conditional_t<std::is_same_v<T, bf16>, __nv_bfloat162, half2>;
    Two both = f (*reinterpret_cast<Two *> (&a), *reinterpret_cast<Two *> (&b));
    return *reinterpret_cast<Pair<T> *> (&both);
  }
}

/* Return the maximum and the minimum of two numbers, or of two pairs in one word; NaN is
 * ignored. */
struct GreaterNumber {
  template <class N>
  __device__ N
  operator() (N a, N b) const
  {
    if constexpr (std::is_same_v<N, float>)
      return fmaxf (a, b);
    else
      return __hmax2 (a, b);
  }
};
struct LesserNumber {
  template <class N>
  __device__ N
  operator() (N a, N b) const
  {
    if constexpr (std::is_same_v<N, float>)
      return fminf (a, b);
    else
      return __hmin2 (a, b);
  }
};

/* Returns the elementwise maxima of two pairs. */
template <class T>
__device__ inline Pair<T>
greater (Pair<T> a, Pair<T> b)
{
  return combined (a, b, GreaterNumber{});
}

/* The maxima and minima of pairs of numbers and 0, which take fewer instructions than the maxima of
 * magnitudes. */
template <class T> struct Extremes {
  Pair<T> max, min;
  __device__ void
  raise_to (Pair<T> pair)
  {
    max = greater<T> (max, pair);
    min = combined (min, pair, LesserNumber{});
  }
  __device__ Pair<T>
  amax () const
  {
    return greater<T> (max, magnitudes<T> (min));
  }
};

/* Returns the maximum of two amaxes and the magnitudes of two elements. */
template <class T>
__device__ inline Pair<T>
larger (Pair<T> amax, Pair<T> pair)
{
  return greater<T> (amax, magnitudes<T> (pair));
}

/* Amaxes of neighbouring rows are raised at the same time. If rows are so long that many warps
 * share one, these amaxes are spread in memory, so that different L2 slices process the atomics:
 * 2^SPREAD_BITS neighbours are each in a different part. */
enum { LONG_ROW = 2048, SPREAD_BITS = 8 };

/* A launch: absent operands are null. */
struct Quantization {
  LigDtype source;
  int64_t rows, columns;
  const float *scale, *amax;                  /* the per-tensor scale, or its amax */
  const uint32_t *row_amaxes, *column_amaxes; /* bits of the amaxes of whole rows and columns */
  int64_t row_step;                           /* stride between the amaxes of rows, */
  int row_bits;                               /* and the bits of the row index that count there */
  uint8_t *row, *transposed;
  float *row_scale, *transposed_scale;
  uint32_t *recorded;
  Target rounded;        /* the dequantized values */
  float *sums;           /* column sums of each band of EDGE rows */
  int first_band, bands; /* of a launch; its maximum */
  int across, tiles;     /* the number of tiles across the matrix, and of a launch */
  int row_kind, transposed_kind;
  float largest, overflow, limit;
  bool powers, narrow_exponent; /* e4m3; else e5m2 */
  bool uniform;                 /* All copies that are present have the same scale. */
  __device__ bool
  has_scales_of_tiles () const
  {
    return row_kind == LIG_SCALES_TILE || transposed_kind == LIG_SCALES_TILE;
  }
  /* Returns the index of a row's amax. */
  __device__ int64_t
  amax_at (int64_t row) const
  {
    return (row & ((1 << row_bits) - 1)) * row_step + (row >> row_bits);
  }
  /* Returns the number of indices. */
  int64_t
  row_amaxes_count () const
  {
    return row_step << row_bits;
  }
  __device__ float
  scale_of (float amax) const
  {
    return lig_quantize_scale (amax, largest, overflow, powers);
  }
  __device__ float
  tensor_scale () const
  {
    return scale ? *scale : amax ? scale_of (*amax) : 1.0f;
  }
};

/* The memory for the amaxes of all passes except the last, as bits, which have the order of the
 * numbers; those of rows are at Quantization.amax_at (). */
struct Lines {
  uint32_t *of_rows, *of_columns, *of_all;
};

/* Returns an element of type T times its scale, like lig_quantize_scaled; conversions to fp8 keep
 * NaN, without its sign. */
template <class T>
__device__ inline float
scaled (const Quantization &q, float value, float scale)
{
  if constexpr (std::is_same_v<T, bf16>)
    return value * scale;
  else
    return lig_quantize_scaled (value, scale, q.limit);
}

/* Rounds four numbers to a format. The conversions write both halves of the word directly. */
template <__nv_fp8_interpretation_t FORMAT>
__device__ inline uint32_t
quantized_word (float a, float b, float c, float d)
{
  uint32_t word;
  if constexpr (FORMAT == __NV_E4M3)
    asm("{.reg .b16 low, high;"
        " cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;"
        " mov.b32 %0, {low, high};}"
        : "=r"(word)
        : "f"(a), "f"(b), "f"(c), "f"(d));
  else
    asm("{.reg .b16 low, high;"
        " cvt.rn.satfinite.e5m2x2.f32 low, %2, %1; cvt.rn.satfinite.e5m2x2.f32 high, %4, %3;"
        " mov.b32 %0, {low, high};}"
        : "=r"(word)
        : "f"(a), "f"(b), "f"(c), "f"(d));
  return word;
}

/* Rounds SIDE numbers to a format. */
template <__nv_fp8_interpretation_t FORMAT>
__device__ inline uint2
quantized (const float (&values)[SIDE])
{
  return make_uint2 (quantized_word<FORMAT> (values[0], values[1], values[2], values[3]),
                     quantized_word<FORMAT> (values[4], values[5], values[6], values[7]));
}
__device__ inline uint2
quantized (const float (&values)[SIDE], bool narrow_exponent)
{
  return narrow_exponent ? quantized<__NV_E4M3> (values) : quantized<__NV_E5M2> (values);
}

/* Returns the number that a byte represents. */
__device__ inline float
number_of (const Quantization &q, uint8_t byte)
{
  return widen (half (__nv_cvt_fp8_to_halfraw (byte, q.narrow_exponent ? __NV_E4M3 : __NV_E5M2)));
}

/* Returns the maximum of a pair over all lanes of the warp, to all of them. */
template <class T>
__device__ inline float
warp_amax (Pair<T> pair)
{
  float first, second;
  split<T> (pair, first, second);
  return __uint_as_float (__reduce_max_sync (0xffffffffu, __float_as_uint (fmaxf (first, second))));
}

/* Returns the maximum of one number per warp. */
template <int N>
__device__ inline float
max_of_warps (const float (&numbers)[N])
{
  float max = 0;
#pragma unroll
  for (int i = 0; i < N; i++)
    max = fmaxf (max, numbers[i]);
  return max;
}

/* Stores the maximum of a pair over the lanes of each warp in shared memory. */
template <class T, int N>
__device__ inline void
leave_amax (Pair<T> pair, float (&warps)[N])
{
  float max = warp_amax<T> (pair);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = max;
}

/* Raises a number in memory (atomic max). Most threadblocks skip it, because the value only
 * grows. */
__device__ inline void
raise (uint32_t *to, float value)
{
  uint32_t bits = __float_as_uint (value);
  if (bits > *(volatile uint32_t *) to)
    atomicMax (to, bits);
}

/* Raises a number in memory to the maximum of a pair over all threads of the threadblock: once,
 * because all threadblocks end at the same time. `warps` is shared. */
template <class T, int N>
__device__ inline void
raise_to_pair (uint32_t *to, Pair<T> pair, float (&warps)[N])
{
  leave_amax<T> (pair, warps);
  __syncthreads ();
  if (threadIdx.x == 0)
    raise (to, max_of_warps (warps));
}

/* The bytes of the amax of a whole matrix in the workspace, padded for alignment. */
enum { AMAX_BYTES = 16 };

/* Clears memory, unless it is null. */
inline void
clear (const LigLaunch *launch, void *memory, size_t bytes)
{
  if (memory)
    cudaMemsetAsync (memory, 0, bytes, stream (launch));
}

/* Returns a launch whose outputs row, row_scale, transposed, transposed_scale, recorded and rounded
 * are the operands from `first` on. */
Quantization quantization (const LigLaunch *launch,
                           const LigQuantizeParams *params,
                           const LigOperand *x,
                           const LigOperand *scale,
                           int first);

/* Places the amaxes of earlier passes in the workspace, clears them and sets the launch to use
 * them; places the column sums after them. */
LigStatus place_lines (LigLaunch *launch, Quantization *q, bool sums, Lines *lines);

} /* namespace lig */
