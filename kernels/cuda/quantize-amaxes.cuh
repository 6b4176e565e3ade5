/* SPDX-License-Identifier: MIT */
/* The pass over a source that finds the amaxes of scales that cover more than a tile. */
#pragma once

#include "kernels/cuda/quantize-lines.cuh"
#include "kernels/cuda/quantize-rows.cuh"

namespace lig
{
/* Raises (atomic max) the amax of a thread's own row or column in memory. */
template <bool ROWS>
__device__ inline void
raise_line (const Quantization &q, uint32_t *to, int64_t first, float amax)
{
  const int64_t line = first + own_line ();
  if (threadIdx.x % ACROSS < SIDE && line < (ROWS ? q.rows : q.columns))
    raise (to + (ROWS ? q.amax_at (line) : line), amax);
}

/* Finds the amaxes of whole rows, of whole columns, and of all elements by tiles. */
template <class S>
__global__ void
__launch_bounds__ (S::Block::EACH, S::BLOCKS) find_lines (const __grid_constant__ Quantization q,
                                                          const __grid_constant__ S source,
                                                          const __grid_constant__ Lines to)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  __shared__ float warps[S::Block::N_WARPS];
  extern __shared__ uint4 staged[];
  Extremes<T> extremes[1] = {};
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x) {
    TilePlace tile = tile_at (q, number);
    source.stage (q, tile, staged, extremes);
    __syncthreads ();
    Square<T> square;
    if (S::Block::takes_rows () && to.of_rows) {
      read_square<true> (staged, square);
      raise_line<true> (q, to.of_rows, tile.first_row (), line_amax<true> (square));
    }
    if (S::Block::takes_columns () && to.of_columns) {
      read_square<false> (staged, square);
      raise_line<false> (q, to.of_columns, tile.first_column (), line_amax<false> (square));
    }
    __syncthreads ();
  }
  if (to.of_all)
    raise_to_pair<T> (to.of_all, extremes[0].amax (), warps);
#endif
}

/* RISING means: a function of one argument that is increasing from here on, and before that no
 * magnitude of its values exceeds its value here, or this. So the amax of a line is the function's
 * value at the line's maximum, unless that is smaller. */
constexpr float RISES = 0.5f;

/* The amaxes of a thread's columns. */
template <class S> struct ColumnAmaxes {
  using T = typename S::Type;
  Pair<T> pairs[S::TILES][PAIRS];

  /* Raises them by the elements of a row, and returns that row's amax. */
  __device__ Pair<T>
  raise_to (const Words<T> (&words)[S::TILES][S::CHUNKS])
  {
    Pair<T> of_row = {}, row[PAIRS];
#pragma unroll
    for (int t = 0; t < S::TILES; t++) {
      memcpy (row, words[t], sizeof row);
#pragma unroll
      for (int p = 0; p < PAIRS; p++) {
        pairs[t][p] = larger<T> (pairs[t][p], row[p]);
        of_row = larger<T> (of_row, row[p]);
      }
    }
    return of_row;
  }

  /* Raises them by numbers, where negative ones count as 0, and returns the row's maximum. */
  __device__ Pair<T>
  raise_to_greatest (const Words<T> (&words)[S::TILES][S::CHUNKS])
  {
    Pair<T> of_row = {}, row[PAIRS];
    memcpy (row, words[0], sizeof row);
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      pairs[0][p] = greater<T> (pairs[0][p], row[p]);
      of_row = greater<T> (of_row, row[p]);
    }
    return of_row;
  }

  /* Returns whether one of the columns has no element from RISES on, here or in memory; for all
   * columns together if `columns` is null. */
  __device__ bool
  lacks (const volatile uint32_t *columns, const volatile uint32_t *all) const
  {
    bool any = false, has = !columns && __uint_as_float (*all) >= RISES;
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      float both[2];
      split<T> (pairs[0][p], both[0], both[1]);
#pragma unroll
      for (int i = 0; i < 2; i++) {
        has |= both[i] >= RISES;
        any |= both[i] < RISES && columns && __uint_as_float (columns[2 * p + i]) < RISES;
      }
    }
    return columns ? any : !has;
  }

  /* Replaces those below RISES by the amaxes of these columns. */
  __device__ void
  replace_low (const ColumnAmaxes &low)
  {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      float max[2], amax[2];
      split<T> (pairs[0][p], max[0], max[1]);
      split<T> (low.pairs[0][p], amax[0], amax[1]);
      pairs[0][p] = join<T> (max[0] < RISES ? amax[0] : max[0], max[1] < RISES ? amax[1] : max[1]);
    }
  }

  /* Raises the amaxes in memory, and `all` by them. */
  __device__ void
  write (const Quantization &q, const S &source, int64_t column, uint32_t *to, Pair<T> &all) const
  {
#pragma unroll
    for (int t = 0; t < S::TILES; t++)
#pragma unroll
      for (int p = 0; p < PAIRS; p++) {
        uint32_t *at = to + source.column_of (q, t, column) + 2 * p;
        float first, second;
        split<T> (pairs[t][p], first, second);
        all = larger<T> (all, pairs[t][p]);
        if (to) {
          raise (at, first);
          raise (at + 1, second);
        }
      }
  }
};

/* Raises the amax of a row in memory by a warp's elements. */
template <class T>
__device__ inline void
raise_row (uint32_t *to, Pair<T> of_row)
{
  float max = warp_amax<T> (of_row);
  if (threadIdx.x % 32 == 0)
    atomicMax (to, __float_as_uint (max));
}

/* Calls `use` with each row of a thread, like each_row, and with the amaxes of its columns; then
 * `complete` with these, if the columns are in the matrix; then raises the amaxes in memory. */
template <class S, class Use, class Complete>
__device__ inline void
search_rows (const Quantization &q,
             const S &source,
             const Lines &to,
             const Window &window,
             Use use,
             Complete complete)
{
  using T = typename S::Type;
  __shared__ float warps[WARPS];
  extern __shared__ uint4 staged[];
  const int64_t column = column_in (window);
  const bool inside = column < q.columns / S::TILES;
  const auto columns = source.columns_at (inside ? column : 0);
  ColumnAmaxes<S> amaxes = {};
  Pair<T> all = {};
  each_row (q, source, window, staged, column, inside,
            [&] (int64_t row, const typename S::Raw &raw, const auto &of_row) {
              use (amaxes, row, raw, of_row, inside, columns);
            });
  if (inside) {
    complete (amaxes, column, columns);
    amaxes.write (q, source, column, to.of_columns, all);
  }
  if (to.of_all)
    raise_to_pair<T> (to.of_all, all, warps);
}

/* Finds the amaxes of whole rows, of whole columns, and of all elements. The only warp reduction is
 * that of a row's amax. */
template <class S>
__global__ void
__launch_bounds__ (THREADS, blocks_of_rows<S>)
  find_amaxes_by_rows (const __grid_constant__ Quantization q,
                       const __grid_constant__ S source,
                       const __grid_constant__ Lines to,
                       const __grid_constant__ Window window)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  search_rows (
    q, source, to, window,
    [&] (ColumnAmaxes<S> &amaxes, int64_t row, const typename S::Raw &raw, const auto &of_row,
         bool inside, const auto &columns) {
      Words<T> words[S::TILES][S::CHUNKS] = {};
      if (inside)
        source.compute (raw, of_row, columns, words);
      Pair<T> max = amaxes.raise_to (words);
      if (to.of_rows)
        raise_row<T> (to.of_rows + q.amax_at (row), max);
    },
    [] (auto &, int64_t, const auto &) {});
#endif
}

/* Replaces the amaxes of a thread's columns without elements from RISES on by the amaxes of their
 * values. */
template <class S, class Columns>
__device__ inline void
replace_arguments (const Quantization &q,
                   const S &source,
                   const Window &window,
                   int64_t column,
                   const Columns &columns,
                   ColumnAmaxes<S> &max)
{
  ColumnAmaxes<S> low = {};
#pragma unroll 1
  for (int64_t row = first_in (window); row < q.rows; row += window.step) {
    typename S::Raw raw;
    Words<typename S::Type> words[1][S::CHUNKS];
    source.load (q, row, column, raw);
    source.compute (raw, source.row_at (q, row), columns, words);
    low.raise_to (words);
  }
  max.replace_low (low);
}

/* Finds, for whole rows, for whole columns, and for all elements, the largest argument of a rising
 * function, or the amax itself if that argument is below RISES: few lines are like that, and their
 * values are computed. settle_amaxes can distinguish the two, because such an amax is below RISES,
 * too. */
template <class S>
__global__ void
__launch_bounds__ (THREADS, blocks_of_rows<S>)
  find_arguments (const __grid_constant__ Quantization q,
                  const __grid_constant__ S source,
                  const __grid_constant__ Lines to,
                  const __grid_constant__ Window window)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  search_rows (
    q, source, to, window,
    [&] (ColumnAmaxes<S> &max, int64_t row, const typename S::Raw &raw, const auto &of_row,
         bool inside, const auto &columns) {
      Words<T> words[1][S::CHUNKS] = {};
      if (inside)
        source.arguments (raw, columns, words[0]);
      float argument = warp_amax<T> (max.raise_to_greatest (words));
      if (to.of_rows && argument < RISES) {
        if (inside)
          source.compute (raw, of_row, columns, words);
        argument = warp_amax<T> (ColumnAmaxes<S>{}.raise_to (words));
      }
      if (to.of_rows && threadIdx.x % 32 == 0)
        atomicMax (to.of_rows + q.amax_at (row), __float_as_uint (argument));
    },
    [&] (ColumnAmaxes<S> &max, int64_t column, const auto &columns) {
      if ((to.of_columns || to.of_all) &&
          max.lacks (to.of_columns ? to.of_columns + column : nullptr, to.of_all))
        replace_arguments (q, source, window, column, columns, max);
    });
#endif
}

/* Replaces the largest arguments of lines by the values of a rising function. */
template <class S>
__global__ void
settle_amaxes (const __grid_constant__ S source, uint32_t *amaxes, int64_t count)
{
#if LIG_QUANTIZES
  for (int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += (int64_t) gridDim.x * blockDim.x) {
    float max = __uint_as_float (amaxes[i]);
    if (max >= RISES)
      amaxes[i] = __float_as_uint (source.value_at (max));
  }
#endif
}

/* Launches settle_amaxes, if there are any. */
template <class S>
void
settle (LigLaunch *launch, const S &source, uint32_t *amaxes, int64_t count)
{
  if (amaxes && count > 0)
    settle_amaxes<S>
      <<<(unsigned) blocks_for (launch, count, THREADS, 4), THREADS, 0, stream (launch)>>> (
        source, amaxes, count);
}

/* Launches the amax pass over a source that can be read in any order. */
template <class S>
LigStatus
find_by_rows (LigLaunch *launch, const Quantization &q, const S &source, const Lines &lines)
{
  if constexpr (S::RISING) {
    LigStatus status =
      launch_windows (launch, q, blocks_of_rows<S>, find_arguments<S>, source, lines);
    if (status != LIG_OK)
      return status;
    settle (launch, source, lines.of_rows, q.row_amaxes_count ());
    settle (launch, source, lines.of_columns, q.columns);
    settle (launch, source, lines.of_all, 1);
    return LIG_LAUNCHED (launch);
  } else {
    return launch_windows (launch, q, blocks_of_rows<S>, find_amaxes_by_rows<S>, source, lines);
  }
}
} /* namespace lig */
