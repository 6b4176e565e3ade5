/* SPDX-License-Identifier: MIT */
/* Reductions over the lanes of a warp, over the warps of a threadblock, and over a row that is
 * shared by some number of threads. The order of the additions depends only on the number of
 * threads, so results do not change from run to run. All threads of the warps involved must call
 * each function. */
#pragma once

#include <stdint.h>

namespace lig
{
struct Sum {
  template <class T>
  __device__ T
  operator() (T a, T b) const
  {
    return a + b;
  }
};

struct Larger {
  __device__ float
  operator() (float a, float b) const
  {
    return fmaxf (a, b);
  }
};

/* Combines N values, a power of two, over N lanes that are `apart` lanes apart, in a fixed order:
 * in each step the lanes exchange half of their values, until each has the result for one value,
 * which becomes values[0]. Returns its index. */
template <class T, int N, class F>
__device__ inline int
share_folded (T (&values)[N], int apart, F f)
{
  int lane = threadIdx.x % 32, index = 0;
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
    bool upper = lane & apart * half;
#pragma unroll
    for (int i = 0; i < half; i++) {
      T sent = upper ? values[i] : values[i + half];
      T kept = upper ? values[i + half] : values[i];
      values[i] = f (kept, __shfl_xor_sync (0xffffffffu, sent, apart * half));
    }
    index += upper ? half : 0;
  }
  return index;
}

/* Returns the value of the lane whose index differs by `offset`, a power of two. */
template <class T>
__device__ inline T
of_other_lane (int offset, T value)
{
  return __shfl_xor_sync (0xffffffffu, value, offset);
}

/* Combines a value, or each value of an array, with that of the lane whose index differs by
 * `offset`, a power of two (butterfly shuffle). */
template <class F, class T>
__device__ inline void
fold_pair (int offset, F f, T &value)
{
  value = f (value, of_other_lane (offset, value));
}
template <class F, class T, int N>
__device__ inline void
fold_pair (int offset, F f, T (&values)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++)
    fold_pair (offset, f, values[i]);
}

/* Reduces each of the values over groups of `lanes` neighbouring lanes, a power of two up to 32.
 * Every lane gets the result. */
template <class F, class... Values>
__device__ inline void
fold_lanes (int lanes, F f, Values &...values)
{
  for (int offset = lanes / 2; offset > 0; offset >>= 1)
    (fold_pair (offset, f, values), ...);
}

/* Reduces each of the values over those of a group of `lanes` lanes that are a multiple of `stride`
 * apart, the nearest first; both are powers of two. */
template <class F, class... Values>
__device__ inline void
fold_strided (int stride, int lanes, F f, Values &...values)
{
  for (int offset = stride; offset < lanes; offset *= 2)
    (fold_pair (offset, f, values), ...);
}

/* Reduces a value over the threadblock. Every thread gets the result. */
template <class T, class F>
__device__ inline T
fold_block (T value, T neutral, F f)
{
  __shared__ T parts[32];
  int lane = (int) threadIdx.x % 32, warps = ((int) blockDim.x + 31) / 32;
  fold_lanes (32, f, value);
  /* All threads have read the partial results of the previous call. */
  __syncthreads ();
  if (lane == 0)
    parts[threadIdx.x / 32] = value;
  __syncthreads ();
  value = lane < warps ? parts[lane] : neutral;
  fold_lanes (32, f, value);
  return value;
}

/* Returns the sum of a value over the threadblock. */
template <class T>
__device__ inline T
block_total (T value)
{
  return fold_block (value, T (0), Sum{});
}

/* Reduces a value over a team: the WHOLE threadblock, or `lanes` neighbouring lanes of a warp. */
template <bool WHOLE, class F>
__device__ inline float
fold_team (float value, int lanes, float neutral, F f)
{
  if (WHOLE)
    return fold_block (value, neutral, f);
  fold_lanes (lanes, f, value);
  return value;
}

/* The number of lanes of one warp that share a row spread over LANES threads; 0 means several
 * warps. */
template <int LANES> constexpr int lanes_of_warp = LANES > 0 && LANES < 32 ? LANES : 32;

/* Returns the sum over the LANES threads of a row, or over the threadblock (0), which then has
 * several warps; each thread gets the same bits. `slots`, aligned to 8 bytes, has one float per
 * warp and is used for rows of several warps; between two uses of it the threadblock passes another
 * barrier. */
template <int LANES>
__device__ inline float
row_sum (float value, float *slots)
{
  fold_lanes (lanes_of_warp<LANES>, Sum{}, value);
  if (LANES == 0) {
    if (threadIdx.x % 32 == 0)
      slots[threadIdx.x / 32] = value;
    __syncthreads ();
    const float2 *pairs = reinterpret_cast<const float2 *> (slots);
    int count = blockDim.x / 64;
    value = 0;
#pragma unroll 4
    for (int i = 0; i < count; i++)
      value += pairs[i].x + pairs[i].y;
  }
  return value;
}

/* Returns two sums over the threads of a row; x is needed only if BOTH. A row of several warps
 * (LANES 0) belongs to group `group` of `lanes` threads, which has its own barrier and slots, one
 * per warp and an even number of them. The caller alternates between two sets of slots from row to
 * row, so one barrier per row suffices: before a thread overwrites a slot, it has passed the
 * barrier of the row between, before which all threads have read the slot. */
template <int LANES, bool BOTH>
__device__ inline float2
row_sums (float2 sums, float2 *slots, int lanes, int group)
{
  if constexpr (BOTH)
    fold_lanes (lanes_of_warp<LANES>, Sum{}, sums.x, sums.y);
  else
    fold_lanes (lanes_of_warp<LANES>, Sum{}, sums.y);
  if (LANES == 0) {
    if (threadIdx.x % 32 == 0)
      slots[(threadIdx.x - group * lanes) / 32] = sums;
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(lanes) : "memory");
    const float4 *pairs = reinterpret_cast<const float4 *> (slots);
    sums = make_float2 (0, 0);
#pragma unroll
    for (int i = 0; i < 8; i++)
      if (i * 64 < lanes) {
        const float4 pair = pairs[i];
        sums.x += pair.x + pair.z;
        sums.y += pair.y + pair.w;
      }
  }
  return sums;
}

/* Returns two sums over the `lanes` threads of a row, 32 or a multiple, in a threadblock of up to
 * WARPS warps; x is needed only if BOTH. `slots` has one place per warp of the threadblock. */
template <int WARPS, bool BOTH>
__device__ inline float2
short_row_sums (float2 sums, float2 *slots, int lanes)
{
  if constexpr (BOTH)
    fold_lanes (32, Sum{}, sums.x, sums.y);
  else
    fold_lanes (32, Sum{}, sums.y);
  if (lanes > 32) {
    const int warp = (int) threadIdx.x / 32, warps = lanes / 32;
    if (threadIdx.x % 32 == 0)
      slots[warp] = sums;
    __syncthreads ();
    sums = make_float2 (0, 0);
#pragma unroll
    for (int i = 0; i < WARPS; i++)
      if (i < warps) {
        sums.x += slots[warp / warps * warps + i].x;
        sums.y += slots[warp / warps * warps + i].y;
      }
  }
  return sums;
}

/* A kernel of one threadblock that sums `count` partial sums and calls `finish (sum)` in one
 * thread. */
template <class Finish>
__global__ void __launch_bounds__ (1024)
  finish_partials (const double *partials, int count, Finish finish)
{
  double sum = 0;
  for (int i = (int) threadIdx.x; i < count; i += (int) blockDim.x)
    sum += partials[i];
  sum = block_total (sum);
  if (threadIdx.x == 0)
    finish (sum);
}
} /* namespace lig */
