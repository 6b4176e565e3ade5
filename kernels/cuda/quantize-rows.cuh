/* SPDX-License-Identifier: MIT */
/* The quantized copy of a source as it is, alone, by one scale that is known. Nothing is
 * transposed, so that elements go from and to memory without a stop; a thread keeps its columns. */
#pragma once

#include "kernels/cuda/quantize-tiles.cuh"

namespace lig
{
/* Quantizes the elements of a thread in one row, which are in registers. */
template <class S, class Words>
__device__ inline void
quantize_words (const Quantization &q,
                const S &source,
                const Words &words,
                float scale,
                int64_t row,
                int64_t column,
                Pair<typename S::Type> &amax)
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
      amax = larger<T> (amax, pairs[p]);
      split<T> (pairs[p], values[2 * p], values[2 * p + 1]);
      values[2 * p] = scaled<T> (q, values[2 * p], scale);
      values[2 * p + 1] = scaled<T> (q, values[2 * p + 1], scale);
    }
    source.store (words[t], at);
    *reinterpret_cast<uint2 *> (q.row + at) = quantized (values, q.narrow_exponent);
  }
}

/* The number of blocks that share a multiprocessor: several streams need registers. */
template <class S> constexpr int blocks_of_rows = sizeof (typename S::Raw) > 32 ? 3 : 4;

/* Quantizes the rows of a source. A thread takes every `step`-th row, and reads some while it
 * computes others. */
template <class S>
__global__ void
__launch_bounds__ (THREADS, blocks_of_rows<S>)
  quantize_rows (const __grid_constant__ Quantization q,
                 const __grid_constant__ S source,
                 int64_t step)
{
  using T = typename S::Type;
  __shared__ float warps[WARPS];
  const int64_t units = q.columns / S::TILES / SIDE, at = blockIdx.x * THREADS + threadIdx.x;
  const int64_t column = at % units * SIDE, end = at < units * step ? q.rows : 0;
  const auto columns = source.columns_at (column);
  const float scale = q.tensor_scale ();
  Pair<T> amax = {};
  constexpr int DEPTH = (S::DEPTH + 1) / 2;
  typename S::Raw next[DEPTH], raw[DEPTH];
  decltype (source.row_at (q, 0)) of_next[DEPTH], of_row[DEPTH];
  auto fetch = [&] (int64_t row) {
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      source.load (q, row + d * step, column, next[d]);
      of_next[d] = source.row_at (q, row + d * step);
    }
  };
  fetch (at / units);
#pragma unroll 1
  for (int64_t row = at / units; row < end; row += DEPTH * step) {
    memcpy (raw, next, sizeof raw);
    memcpy (of_row, of_next, sizeof of_row);
    fetch (row + DEPTH * step);
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      Words<T> words[S::TILES][S::CHUNKS];
      if (row + d * step >= end)
        continue;
      source.compute (raw[d], of_row[d], columns, words);
      quantize_words (q, source, words, scale, row + d * step, column, amax);
    }
  }
  if (q.recorded)
    raise_to_pair<T> (q.recorded, amax, warps);
  if (at == 0 && q.row_scale)
    *q.row_scale = lig_quantize_inverse (scale);
}

/* Launches quantize_rows, with as many threads as have the same columns in each row; FALSE if rows
 * are longer than that. */
template <class S>
bool
write_rows_alone (LigLaunch *launch, const Quantization &q, const S &source, LigStatus *status)
{
  int64_t units = q.columns / S::TILES / SIDE;
  int64_t step = (int64_t) launch->device->multiprocessors * blocks_of_rows<S> * THREADS / units;
  if (!q.row || q.transposed || q.sums || q.rounded.data || !q.uniform || step == 0)
    return false;
  step = step < q.rows ? step : q.rows;
  unsigned blocks = (unsigned) ((units * step + THREADS - 1) / THREADS);
  quantize_rows<S><<<blocks, THREADS, 0, stream (launch)>>> (q, source, step);
  *status = LIG_LAUNCHED (launch);
  return true;
}
} /* namespace lig */
