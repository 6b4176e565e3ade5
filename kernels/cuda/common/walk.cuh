/* SPDX-License-Identifier: MIT */
/* Walks over rows: a thread keeps W neighbouring columns and iterates over the rows of its part, so
 * that values per column, such as a bias or the sums over rows, stay in registers.
 *
 * A threadblock is `1 << shift` threads wide; its other threads process other rows of the part. The
 * terms of a column's sum and their order depend only on `rows`, `share` and `shift`: a fused
 * kernel matches the kernels that it replaces bit for bit, and a misaligned operand changes
 * nothing. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/early.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace lig
{
struct Walk {
  int64_t rows, columns;
  int64_t share; /* rows of one part */
  int shift;
};

/* The part of a walk that one thread processes: rows first, first + step, ... below end. */
struct Spot {
  int64_t column, first, end;
  int step;
};

/* Returns the part of a threadblock. The first threadblocks process the last rows, which the
 * previous kernel wrote last and which are still in cache. */
__device__ inline int64_t
part_number ()
{
  return gridDim.y - 1 - blockIdx.y;
}

/* Returns the calling thread's part of a walk with W columns per thread. */
template <int W>
__device__ inline Spot
spot (const Walk &w)
{
  int lane = (int) threadIdx.x & ((1 << w.shift) - 1), step = THREADS >> w.shift;
  int64_t column = ((int64_t) blockIdx.x << w.shift | lane) * W, part = part_number () * w.share;
  int64_t end = part + w.share < w.rows ? part + w.share : w.rows;
  return Spot{column, part + ((int) threadIdx.x >> w.shift), column < w.columns ? end : 0, step};
}

/* Loads W elements of type T of a vector as fp32. */
template <class T, int W>
__device__ inline void
load_columns_of (const Vector &vector, int64_t column, float (&values)[W])
{
  Chunk<T, W> chunk = load_chunk<W> ((const T *) vector.data + column);
  for (int i = 0; i < W; i++)
    values[i] = widen (chunk.v[i]);
}

/* Loads W elements of a vector from `column` on, a multiple of W, as fp32. */
template <int W>
__device__ inline void
load_columns (const Vector &vector, int64_t column, float (&values)[W])
{
  if (W == 1)
    values[0] = vector[column];
  else if (vector.dtype == LIG_FP32)
    load_columns_of<float> (vector, column, values);
  else if (vector.dtype == LIG_FP16)
    load_columns_of<half> (vector, column, values);
  else
    load_columns_of<bf16> (vector, column, values);
}

/* The destination of the sums: the workspace, or the target itself if there is one part. */
struct Sums {
  float *partials; /* null if there is one part */
  Target target;   /* null data: no sums are needed */
  int64_t columns; /* of the target */
  bool accumulate;
};

/* Adds values to the thread's sums. The addition is not contracted with a multiplication that
 * produced the value (no FMA), because the unfused kernel rounds that. */
template <int W>
__device__ inline void
add_row (float (&sums)[W], const float (&values)[W])
{
#pragma unroll
  for (int i = 0; i < W; i++)
    sums[i] = __fadd_rn (sums[i], values[i]);
}

/* Iterates over the rows of a spot. For each row, `each (at, take)` calls take (k, operand, index)
 * for each of the STREAMS values that the thread needs, where `at` is the row's offset in a matrix
 * of the walk's width; then `use (at, values)` gets the values, row by row.
 *
 * Packs are copied to shared memory, with DEPTH rows in flight at any time. Registers do not
 * suffice: the compiler waits for all outstanding loads of a loop at once. Every thread reads only
 * packs that it copied itself, so no barriers are needed. */
template <class A, int STREAMS, int DEPTH, class Each, class Use>
__device__ inline void
go_down (const Walk &w, const Spot &s, Each each, Use use)
{
  using Value = typename A::Value;
  /* Keeps the compiler from recomputing the stride for each row. */
  int64_t stride = uncertain (s.step * w.columns), at = s.first * w.columns + s.column;
  int left = s.first < s.end ? (int) ((s.end - s.first + s.step - 1) / s.step) : 0;
  if constexpr (A::W > 1) {
    __shared__ uint4 places[DEPTH][STREAMS][THREADS];
    auto fetch = [&] (int place, int64_t from, bool live) {
      if (live)
        each (from, [&] (int k, const Target &operand, int64_t index) {
          copy_async_streaming (&places[place][k][threadIdx.x], A::address (operand, index));
        });
      commit_copies ();
    };
#pragma unroll
    for (int u = 0; u < DEPTH; u++)
      fetch (u, at + u * stride, u < left);
    let_next_begin ();
    int place = 0;
#pragma unroll 1
    for (; left > 0; left--) {
      await_copies<DEPTH - 1> ();
      Value values[STREAMS];
#pragma unroll
      for (int k = 0; k < STREAMS; k++)
        values[k] = places[place][k][threadIdx.x];
      fetch (place, at + DEPTH * stride, left > DEPTH);
      use (at, values);
      at += stride;
      place = place + 1 < DEPTH ? place + 1 : 0;
    }
  } else {
    let_next_begin ();
    for (; left > 0; left -= DEPTH) {
      Value values[DEPTH][STREAMS];
#pragma unroll
      for (int u = 0; u < DEPTH; u++)
        if (u < left)
          each (uncertain (at + u * stride), [&] (int k, const Target &operand, int64_t index) {
            values[u][k] = A::read (operand, index);
          });
#pragma unroll
      for (int u = 0; u < DEPTH; u++)
        if (u < left)
          use (uncertain (at + u * stride), values[u]);
      at += DEPTH * stride;
    }
  }
}

/* Reduces the sums of a threadblock's threads: first over the lanes of a warp that share columns,
 * then over the warps. Every thread calls it, once. The sums belong to N matrices of the walk's
 * width, one after another. */
template <int W, int N>
__device__ inline void
finish_sums (const Walk &w, const Sums &to, float (&sums)[N][W])
{
  constexpr int WARPS = THREADS / 32;
  __shared__ alignas (16) float slots[WARPS][32 * W];
  int lanes = 1 << w.shift, lane = (int) threadIdx.x % 32;
  int64_t tile = ((int64_t) blockIdx.x << w.shift) * W;
#pragma unroll
  for (int n = 0; n < N; n++) {
    fold_strided (lanes, 32, Sum{}, sums[n]);
    /* All threads have read the sums of the previous matrix. */
    if (n > 0)
      __syncthreads ();
    if (lane < lanes)
#pragma unroll
      for (int i = 0; i < W; i++)
        slots[threadIdx.x / 32][lane * W + i] = sums[n][i];
    __syncthreads ();
    for (int i = (int) threadIdx.x; i < lanes * W && tile + i < w.columns; i += THREADS) {
      int64_t column = n * w.columns + tile + i;
      float sum = slots[0][i];
#pragma unroll
      for (int warp = 1; warp < WARPS; warp++)
        sum += slots[warp][i];
      if (to.partials)
        to.partials[part_number () * to.columns + column] = sum;
      else
        to.target.set (column, to.accumulate ? to.target.get (column) + sum : sum);
    }
  }
}

/* Returns a grid of one threadblock per tile of columns and per part. */
inline dim3
walk_grid (const Walk &w, int W)
{
  int64_t tile = (int64_t) W << w.shift;
  return dim3 ((unsigned) ((w.columns + tile - 1) / tile),
               (unsigned) (w.rows > w.share ? (w.rows + w.share - 1) / w.share : 1));
}

/* Returns the shift for rows of `packs` packs: narrow rows get fewer lanes. */
inline int
walk_shift (int64_t packs)
{
  int shift = 5;
  while (shift > 0 && (int64_t) 1 << (shift - 1) >= packs)
    shift--;
  return shift;
}

/* Returns a walk without sums. Threads, which keep values per column, process 16 rows, or fewer if
 * SMs would otherwise be idle. There are at most 65,535 parts. */
inline Walk
plain_walk (const LigLaunch *launch, int64_t rows, int64_t columns, int W)
{
  int shift = walk_shift ((columns + W - 1) / W);
  int64_t step = THREADS >> shift, each = 16;
  Walk w = {rows, columns, step * each, shift};
  while (each > 1) {
    dim3 grid = walk_grid (w, W);
    if ((int64_t) grid.x * grid.y >= (int64_t) launch->device->multiprocessors * 4)
      break;
    each /= 2;
    w.share = step * each;
  }
  int64_t min = (rows + 65534) / 65535;
  if (w.share < min)
    w.share = (min + step - 1) / step * step;
  return w;
}

/* Returns a walk that leaves sums of `columns` columns over rows whose elements have the given
 * type. A few hundred rows are summed by one narrow threadblock per tile, which saves the second
 * stage. For more rows, the walk minimizes an estimated time: threadblocks run in waves of four per
 * SM, the last of which should be full, and the prologue and epilogue of a threadblock take about
 * as long as START rows. A gated unit has half as many threadblocks, because its threads process
 * two columns each, but must process the same rows: the estimate is the time of both. More than
 * MAX_EACH rows per thread would leave too few waves to even out slow threadblocks; more than
 * MAX_PARTS parts would make the second stage too slow. */
inline Walk
sum_walk (const LigLaunch *launch, int64_t rows, int64_t columns, LigDtype dtype)
{
  enum { MAX_EACH = 28, START = 2, MAX_PARTS = 1024 };
  int64_t multiprocessors = launch->device->multiprocessors, width = dtype == LIG_FP32 ? 4 : 8;
  int64_t packs = (columns + width - 1) / width;
  int shift = walk_shift (packs);
  if (rows <= 512) {
    while (shift > 2 && packs >> shift < 2 * multiprocessors && THREADS >> shift < rows)
      shift--;
    return Walk{rows, columns, rows > 0 ? rows : 1, shift};
  }
  int64_t tiles = (packs + (1 << shift) - 1) >> shift, step = THREADS >> shift;
  int64_t max = max_parts (columns, 1), wave = 4 * multiprocessors, best = INT64_MAX, share = 0;
  max = max < MAX_PARTS ? max : MAX_PARTS;
  for (int64_t each = MAX_EACH; each >= 2; each--) {
    int64_t parts = (rows + each * step - 1) / (each * step);
    int64_t whole = (tiles * parts + wave - 1) / wave;
    int64_t gated = ((tiles + 1) / 2 * parts + wave - 1) / wave;
    int64_t time = (whole + gated) * (each + START);
    if (parts <= max && time < best) {
      best = time;
      share = each * step;
    }
  }
  if (!share)
    share = ((rows + max - 1) / max + step - 1) / step * step;
  return Walk{rows, columns, share, shift};
}

/* Returns the destination of the sums of a walk; a gated unit has two for each column of the
 * walk. */
inline Sums
sums_to (const LigLaunch *launch, const Walk &w, const LigOperand *target)
{
  bool one = w.rows <= w.share;
  return Sums{one ? nullptr : (float *) launch->workspace, lig::target (target), target->size,
              launch->accumulate};
}

/* Returns the status of the walk launched just before, after launching the second stage if one is
 * needed. */
inline LigStatus
finish_walk (LigLaunch *launch, const Walk &w, const Sums &sums, const LigOperand *target)
{
  LigStatus status = LIG_LAUNCHED (launch);
  if (status != LIG_OK || !target->data || !sums.partials)
    return status;
  int parts = (int) ((w.rows + w.share - 1) / w.share);
  return add_parts (launch, sums.partials, parts, sums.columns, target->size, target, true);
}

/* Returns whether the sums of that many columns fit the workspace. */
inline bool
sums_fit (int64_t columns)
{
  return columns > 0 && max_parts (columns, 1) > 0;
}
} /* namespace lig */
