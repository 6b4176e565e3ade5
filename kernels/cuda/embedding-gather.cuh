/* SPDX-License-Identifier: MIT */
/* Embedding gather: y[i,:] = weight[x[i],:], plus the row of a position. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/common/walk.cuh"
#include "kernels/cuda/embedding.cuh"

namespace lig
{
/* The number of rows that a thread has in flight. */
enum { ROWS_AT_ONCE = 4 };

/* The shard of the vocabulary in the table: tokens from `first` on; the whole vocabulary has
 * `count`. */
struct Table {
  int64_t first, rows, count;
  /* Returns the row of a token, or -1 if the table does not have it. */
  __device__ int64_t
  row (int64_t token) const
  {
    int64_t at = token - first;
    return token >= 0 && token < count && at >= 0 && at < rows ? at : -1;
  }
};

/* Computes y, plus row r % length of `position` if there is one. Each group of `lanes` threads
 * copies ROWS_AT_ONCE rows at a time. */
template <class From, class To, int N>
__global__ void
__launch_bounds__ (THREADS) gather_rows (const int32_t *tokens,
                                         const From *weight,
                                         To *y,
                                         int64_t count,
                                         Table table,
                                         int64_t columns,
                                         int lanes,
                                         Vector position,
                                         LigPositionParams p)
{
  int64_t units = columns / N, group = ((int64_t) blockIdx.x * THREADS + threadIdx.x) / lanes;
  int64_t groups = (int64_t) gridDim.x * THREADS / lanes;
  for (int64_t first = group * ROWS_AT_ONCE; first < count; first += groups * ROWS_AT_ONCE) {
    int64_t row[ROWS_AT_ONCE];
    bool elsewhere[ROWS_AT_ONCE]; /* on another rank */
#pragma unroll
    for (int u = 0; u < ROWS_AT_ONCE; u++) {
      int64_t token = first + u < count ? tokens[first + u] : -1;
      row[u] = table.row (token);
      elsewhere[u] = row[u] < 0 && token >= 0 && token < table.count;
    }
    for (int64_t unit = threadIdx.x & (lanes - 1); unit < units; unit += lanes) {
      Chunk<From, N> chunk[ROWS_AT_ONCE];
#pragma unroll
      for (int u = 0; u < ROWS_AT_ONCE; u++)
        if (row[u] >= 0)
          chunk[u] = load_chunk<N> (weight + row[u] * columns + unit * N);
#pragma unroll
      for (int u = 0; u < ROWS_AT_ONCE; u++)
        if (first + u < count) {
          Chunk<To, N> out;
          float values[N];
#pragma unroll
          for (int i = 0; i < N; i++)
            values[i] = elsewhere[u] ? 0 : NAN;
          if (row[u] >= 0)
            unpack (chunk[u], values);
          pack (values, out);
          if constexpr (std::is_same_v<From, To>)
            out = row[u] >= 0 ? chunk[u] : out;
          if (position.data) {
            float shift[N];
            int64_t at = lig_position ((first + u) % p.length, p.length, p.ranks, p.rank);
            load_columns<N> (position, at * columns + unit * N, shift);
            unpack (out, values);
#pragma unroll
            for (int i = 0; i < N; i++)
              values[i] += shift[i];
            pack (values, out);
          }
          store_chunk (y + (first + u) * columns + unit * N, out);
        }
    }
  }
}

/* The same with scalar accesses, for any types. */
__global__ void
__launch_bounds__ (THREADS) gather_each (const int32_t *tokens,
                                         Target weight,
                                         Target y,
                                         int64_t count,
                                         Table table,
                                         int64_t columns,
                                         Vector position,
                                         LigPositionParams p)
{
  int64_t size = count * columns, step = (int64_t) gridDim.x * THREADS;
  for (int64_t at = (int64_t) blockIdx.x * THREADS + threadIdx.x; at < size; at += step) {
    int64_t i = at / columns, column = at % columns, token = tokens[i], row = table.row (token);
    bool elsewhere = row < 0 && token >= 0 && token < table.count;
    float value[1] = {elsewhere ? 0 : NAN};
    if (row >= 0)
      Single::widen (Single::read (weight, row * columns + column), weight, value);
    Single::Value out = Single::narrow (value, y);
    if (position.data) {
      Single::widen (out, y, value);
      value[0] +=
        position[lig_position (i % p.length, p.length, p.ranks, p.rank) * columns + column];
      out = Single::narrow (value, y);
    }
    Single::write (y, at, out);
  }
}
} /* namespace lig */
