/* SPDX-License-Identifier: MIT */
/* Walks over rows: a thread stays with W neighbouring columns and goes down the rows of its part,
 * so that what belongs to columns, a bias or the sums over rows, lies in registers.
 *
 * A block is `1 << shift` threads wide, the rest of its threads take other rows of the part. What
 * the sums of a column are added up from, and in which order, follows from `rows`, `share` and
 * `shift` alone: a fused kernel gives the bits of those that it replaces, and a misaligned operand
 * changes nothing. */
#pragma once

#include "kernels/cuda/access.cuh"
#include "kernels/cuda/columns.cuh"

namespace lig
{
struct Walk {
  int64_t rows, columns;
  int64_t share; /* rows of one part */
  int shift;
};

/* What one thread does of a walk: rows first, first + step, ... below end. */
struct Spot {
  int64_t column, first, end;
  int step;
};

/* Blocks begin with the last rows: those the kernel before wrote last are still in the cache. */
__device__ inline int64_t
part_number ()
{
  return gridDim.y - 1 - blockIdx.y;
}

template <int W>
__device__ inline Spot
spot (const Walk &w)
{
  int lane = (int) threadIdx.x & ((1 << w.shift) - 1), step = THREADS >> w.shift;
  int64_t column = ((int64_t) blockIdx.x << w.shift | lane) * W, part = part_number () * w.share;
  int64_t end = part + w.share < w.rows ? part + w.share : w.rows;
  return Spot{column, part + ((int) threadIdx.x >> w.shift), column < w.columns ? end : 0, step};
}

/* W values of a vector from `column` on, a multiple of W. */
template <int W>
__device__ inline void
load_columns (const Vector &vector, int64_t column, float (&values)[W])
{
  if (W == 1) {
    values[0] = vector[column];
  } else if (vector.dtype == LIG_FP32) {
    Chunk<float, W> chunk = load_chunk<W> ((const float *) vector.data + column);
    for (int i = 0; i < W; i++)
      values[i] = chunk.v[i];
  } else if (vector.dtype == LIG_FP16) {
    Chunk<half, W> chunk = load_chunk<W> ((const half *) vector.data + column);
    for (int i = 0; i < W; i++)
      values[i] = widen (chunk.v[i]);
  } else {
    Chunk<bf16, W> chunk = load_chunk<W> ((const bf16 *) vector.data + column);
    for (int i = 0; i < W; i++)
      values[i] = widen (chunk.v[i]);
  }
}

/* Where the sums of the parts go: to the workspace, or straight to the target if there is one part.
 */
struct Sums {
  float *partials; /* null: one part */
  Target target;   /* null data: nobody wants the sums */
  int64_t columns; /* of the target */
  bool accumulate;
};

/* Not to be contracted with a product that led to the value: the unfused kernel rounds that. */
template <int W>
__device__ inline void
add_row (float (&sums)[W], const float (&values)[W])
{
#pragma unroll
  for (int i = 0; i < W; i++)
    sums[i] = __fadd_rn (sums[i], values[i]);
}

/* Adds the threads' sums of a block up: first those of a warp that share columns, then the warps.
 * Every thread must call it. The sums of the walk's column c are those of `offset + c`. */
template <int W>
__device__ inline void
finish_sums (const Walk &w, const Sums &to, float (&sums)[W], int64_t offset)
{
  constexpr int WARPS = THREADS / 32;
  __shared__ float slots[WARPS][32 * W];
  int lanes = 1 << w.shift, lane = (int) threadIdx.x % 32;
  for (int step = lanes; step < 32; step *= 2)
#pragma unroll
    for (int i = 0; i < W; i++)
      sums[i] += __shfl_xor_sync (0xffffffffu, sums[i], step);
  /* What a call before left there was read by all. */
  __syncthreads ();
  if (lane < lanes)
#pragma unroll
    for (int i = 0; i < W; i++)
      slots[threadIdx.x / 32][lane * W + i] = sums[i];
  __syncthreads ();
  int64_t tile = ((int64_t) blockIdx.x << w.shift) * W;
  for (int i = (int) threadIdx.x; i < lanes * W; i += THREADS) {
    int64_t column = offset + tile + i;
    if (tile + i >= w.columns)
      break;
    float sum = slots[0][i];
    for (int warp = 1; warp < WARPS; warp++)
      sum += slots[warp][i];
    if (to.partials)
      to.partials[part_number () * to.columns + column] = sum;
    else
      to.target.set (column, to.accumulate ? to.target.get (column) + sum : sum);
  }
}

/* A block per tile of columns and per part. */
inline dim3
walk_grid (const Walk &w, int W)
{
  int64_t tile = (int64_t) W << w.shift;
  return dim3 ((unsigned) ((w.columns + tile - 1) / tile),
               (unsigned) (w.rows > w.share ? (w.rows + w.share - 1) / w.share : 1));
}

/* Narrow rows take fewer lanes. */
inline int
walk_shift (int64_t packs)
{
  int shift = 5;
  while (shift > 0 && (int64_t) 1 << (shift - 1) >= packs)
    shift--;
  return shift;
}

/* A walk without sums: threads that keep something per column take 16 rows, or fewer, where that
 * would leave multiprocessors idle. At most 65,535 parts. */
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
  int64_t least = (rows + 65534) / 65535;
  if (w.share < least)
    w.share = (least + step - 1) / step * step;
  return w;
}

/* A walk that leaves sums of `columns` columns, of rows whose elements have the given type. A few
 * hundred rows are added up by one narrow block per tile, which saves the second stage. Else
 * there are as many parts as make many blocks for each multiprocessor, so that the last ones do not
 * leave most of them idle, and no thread has less than four rows. */
inline Walk
sum_walk (const LigLaunch *launch, int64_t rows, int64_t columns, LigDtype dtype)
{
  int64_t multiprocessors = launch->device->multiprocessors, width = dtype == LIG_FP32 ? 4 : 8;
  int64_t packs = (columns + width - 1) / width;
  int shift = walk_shift (packs);
  if (rows <= 512) {
    while (shift > 2 && packs >> shift < 2 * multiprocessors && THREADS >> shift < rows)
      shift--;
    return Walk{rows, columns, rows > 0 ? rows : 1, shift};
  }
  int64_t tiles = (packs + (1 << shift) - 1) >> shift, unit = (THREADS >> shift) * 4;
  int64_t parts = (24 * multiprocessors + tiles - 1) / tiles, most = most_parts (columns, 1);
  parts = parts < most ? parts : most;
  int64_t share = ((rows + parts - 1) / parts + unit - 1) / unit * unit;
  return Walk{rows, columns, share, shift};
}

/* Where the sums of that walk go; a gated unit has two for each column that it walks. */
inline Sums
sums_to (const LigLaunch *launch, const Walk &w, const LigOperand *target)
{
  bool one = w.rows <= w.share;
  return Sums{one ? nullptr : (float *) launch->workspace, lig::target (target), target->size,
              launch->accumulate};
}

/* To be returned after the walk was launched. */
inline LigStatus
finish_walk (LigLaunch *launch, const Walk &w, const Sums &sums, const LigOperand *target)
{
  LigStatus status = LIG_LAUNCHED (launch);
  if (status != LIG_OK || !target->data || !sums.partials)
    return status;
  int parts = (int) ((w.rows + w.share - 1) / w.share);
  return add_parts (launch, sums.partials, parts, sums.columns, sums.columns, target);
}

/* Whether sums of that many columns fit the workspace. */
inline bool
sums_fit (int64_t columns)
{
  return columns > 0 && most_parts (columns, 1) > 0;
}
} /* namespace lig */
