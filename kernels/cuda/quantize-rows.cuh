/* SPDX-License-Identifier: MIT */
/* Passes over a source without transposition: the untransposed copy by itself with one known scale,
 * and the search for amaxes. A thread keeps its columns and processes every `step`-th row; its
 * elements are copied asynchronously to shared memory while it computes earlier ones, and it waits
 * for no other thread. */
#pragma once

#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* The vectors of SIDE columns of a launch, from a given one of the matrix on. `lanes` threads, a
 * multiple of a warp, share a row, so that a warp has elements of one row; there are `step` such
 * groups. */
struct Window {
  int64_t first, lanes, step;
};

/* The number of rows that a thread computes together: two if F needs values per row, which are
 * loaded while the previous rows are computed. */
template <class S> constexpr int rows_together = std::is_same_v<typename S::OfRow, Nothing> ? 1 : 2;

/* The number of groups of such rows that are in flight or in use. */
template <class S> constexpr int row_groups = rows_together<S> > 1 ? 3 : 4;

/* The bytes of shared memory per threadblock that hold them. */
template <class S>
constexpr size_t rows_staged = row_groups<S> *rows_together<S> * sizeof (typename S::Raw) * THREADS;

/* The number of threadblocks per SM: several streams need registers and memory. */
template <class S> constexpr int blocks_of_rows = sizeof (typename S::Raw) > 32 ? 2 : 4;

/* Returns the first row of a thread, and the first of its columns. */
__device__ inline int64_t
first_in (const Window &window)
{
  int64_t first = ((int64_t) blockIdx.x * THREADS + threadIdx.x) / window.lanes;
  return first < window.step ? first : INT64_MAX / 2;
}
__device__ inline int64_t
column_in (const Window &window)
{
  return (window.first + ((int64_t) blockIdx.x * THREADS + threadIdx.x) % window.lanes) * SIDE;
}

/* Calls `use` with each row of a thread, its elements, and the values that F needs for the row. All
 * threads of a warp have the same rows; `inside` is whether the columns of a thread are in the
 * matrix. */
template <class S, class Use>
__device__ inline void
each_row (const Quantization &q,
          const S &source,
          const Window &window,
          uint4 *staged,
          int64_t column,
          bool inside,
          Use use)
{
  constexpr int PARTS = sizeof (typename S::Raw) / sizeof (uint4), CHUNKS = S::CHUNKS;
  constexpr int STREAMS = PARTS / CHUNKS, TOGETHER = rows_together<S>, GROUPS = row_groups<S>;
  constexpr int GROUP = TOGETHER * PARTS * THREADS;
  const uint4 *from[STREAMS];
  int64_t step[STREAMS], next = first_in (window);
#pragma unroll
  for (int s = 0; s < STREAMS; s++) {
    from[s] = source.source_of (q, s, next < q.rows ? next : 0, inside ? column : 0);
    step[s] = (source.source_of (q, s, 1, 0) - source.source_of (q, s, 0, 0)) * window.step;
  }
  typename S::OfRow of_next[TOGETHER], of_rows[TOGETHER];
  auto fetch = [&] (int group) {
    uint4 *to = staged + group * GROUP + threadIdx.x;
#pragma unroll
    for (int d = 0; d < TOGETHER; d++, next += window.step)
#pragma unroll
      for (int s = 0; s < STREAMS; s++) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          copy_async (to + (d * PARTS + s * CHUNKS + c) * THREADS, from[s] + c,
                      next < q.rows && inside);
        from[s] += step[s];
      }
    commit_copies ();
  };
  auto read_rows = [&] (int64_t row) {
#pragma unroll
    for (int d = 0; d < TOGETHER; d++)
      of_next[d] = source.row_at (q, row + d * window.step);
  };
#pragma unroll
  for (int group = 0; group < GROUPS - 1; group++)
    fetch (group);
  read_rows (first_in (window));
  int group = 0;
#pragma unroll 1
  for (int64_t row = first_in (window); row < q.rows; row += TOGETHER * window.step) {
    memcpy (of_rows, of_next, sizeof of_rows);
    fetch (group ? group - 1 : GROUPS - 1);
    read_rows (row + TOGETHER * window.step);
    await_copies<GROUPS - 1> ();
    const uint4 *parts = staged + group * GROUP + threadIdx.x;
    group = group + 1 == GROUPS ? 0 : group + 1;
#pragma unroll
    for (int d = 0; d < TOGETHER; d++) {
      typename S::Raw raw;
#pragma unroll
      for (int s = 0; s < STREAMS; s++)
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
          raw[s][c] = parts[(d * PARTS + s * CHUNKS + c) * THREADS];
      if (row + d * window.step < q.rows)
        use (row + d * window.step, raw, of_rows[d]);
    }
  }
}

/* Quantizes a thread's elements of one row, which are in registers. */
template <class S, class Words>
__device__ inline void
quantize_words (const Quantization &q,
                const S &source,
                const Words &words,
                float scale,
                int64_t row,
                int64_t column,
                Extremes<typename S::Type> &extremes)
{
  using T = typename S::Type;
#pragma unroll
  for (int t = 0; t < S::TILES; t++) {
    int64_t at = row * q.columns + source.column_of (q, t, column);
    Pair<T> pairs[PAIRS];
    float values[SIDE];
    memcpy (pairs, words[t], sizeof pairs);
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      split<T> (pairs[p], values[2 * p], values[2 * p + 1]);
      values[2 * p] = scaled<T> (q, values[2 * p], scale);
      values[2 * p + 1] = scaled<T> (q, values[2 * p + 1], scale);
    }
    if (q.recorded)
      S::raise (extremes, words[t]);
    if (source.values)
      source.store (words[t], at);
    *reinterpret_cast<uint2 *> (q.row + at) = quantized (values, q.narrow_exponent);
  }
}

/* Quantizes the rows of a source. */
template <class S>
__global__ void
__launch_bounds__ (THREADS, blocks_of_rows<S>)
  quantize_rows (const __grid_constant__ Quantization q,
                 const __grid_constant__ S source,
                 const __grid_constant__ Window window)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  __shared__ float warps[WARPS];
  extern __shared__ uint4 staged[];
  const int64_t column = column_in (window);
  const bool inside = column < q.columns / S::TILES;
  const auto columns = source.columns_at (inside ? column : 0);
  const float scale = q.tensor_scale ();
  Extremes<T> extremes = {};
  each_row (q, source, window, staged, column, inside,
            [&] (int64_t row, const typename S::Raw &raw, const auto &of_row) {
              Words<T> words[S::TILES][S::CHUNKS];
              if (!inside)
                return;
              source.compute (raw, of_row, columns, words);
              quantize_words (q, source, words, scale, row, column, extremes);
            });
  if (q.recorded)
    raise_to_pair<T> (q.recorded, extremes.amax (), warps);
  if (window.first == 0 && blockIdx.x == 0 && threadIdx.x == 0 && q.row_scale)
    *q.row_scale = lig_quantize_inverse (scale);
#endif
}

/* Returns how many of `limit` threadblocks share an SM if they read and write rows. Accessing fewer
 * places of DRAM at a time changes DRAM rows less often, but if bandwidth per SM is high, more
 * bytes must be in flight: on an H100, with 13 bytes per clock, half of the threadblocks write gelu
 * 10 % faster, on an H200, with 19, 8 % more slowly. */
inline int
blocks_that_write (const LigLaunch *launch, int limit)
{
  constexpr double MANY_BYTES = 16;
  const double bytes = launch->device->bytes_of_clock;
  return bytes > 0 && bytes < MANY_BYTES ? max (limit / 2, 1) : limit;
}

/* Launches a kernel with `blocks_each` threadblocks per SM for windows of as many columns as it has
 * threads, until one fails. Nothing is launched for zero rows. */
template <class S, class Kernel, class... Arguments>
LigStatus
launch_windows (LigLaunch *launch,
                const Quantization &q,
                int blocks_each,
                Kernel kernel,
                const S &source,
                Arguments... more)
{
  const int64_t units = q.columns / S::TILES / SIDE;
  const int64_t threads = (int64_t) launch->device->multiprocessors * blocks_each * THREADS;
  LigStatus status = LIG_OK;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, rows_staged<S>);
  for (int64_t first = 0; first < units && q.rows > 0 && status == LIG_OK; first += threads) {
    int64_t left = units - first, lanes = left < threads ? (left + 31) / 32 * 32 : threads;
    int64_t step = threads / lanes < q.rows ? threads / lanes : q.rows;
    unsigned blocks = (unsigned) ((lanes * step + THREADS - 1) / THREADS);
    kernel<<<blocks, THREADS, rows_staged<S>, stream (launch)>>> (q, source, more...,
                                                                  Window{first, lanes, step});
    status = LIG_LAUNCHED (launch);
  }
  return status;
}

/* Launches quantize_rows; FALSE if the launch needs more than that. */
template <class S>
bool
write_rows_alone (LigLaunch *launch, const Quantization &q, const S &source, LigStatus *status)
{
  if (!q.row || q.transposed || q.sums || q.rounded.data || !q.uniform)
    return false;
  *status = launch_windows (launch, q, blocks_that_write (launch, blocks_of_rows<S>),
                            quantize_rows<S>, source);
  return true;
}
} /* namespace lig */
