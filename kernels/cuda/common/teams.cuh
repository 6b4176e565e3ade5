/* SPDX-License-Identifier: MIT */
/* Teams of threads that process rows: a few lanes of a warp for a short row, a threadblock for a
 * long one. Rows of any alignment are read in 16-byte packs, except for their ends. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace lig
{
enum { MAX_THREADS = 1024, UNROLL = 4 };
/* Rows with more packs get a whole threadblock. */
enum { WARP_PACKS = 256 };
/* Up to this number of threads, a single threadblock processes all rows, which saves a second
 * launch. */
enum { ALONE = 4096 };

/* The mapping of rows to threads: a row is processed by `lanes` threads, a power of two up to 32,
 * or by a `whole` threadblock. */
struct Teams {
  bool whole;
  int lanes, threads, blocks;
};

/* Returns teams for `rows` rows of `columns` elements, with `width` elements per pack. With `alone`
 * a small problem gets a single threadblock. */
static inline Teams
teams_for (const LigLaunch *launch, int64_t rows, int64_t columns, int width, bool alone)
{
  int64_t packs = columns / width, few = columns < 8 ? columns : 8;
  Teams teams = {packs > WARP_PACKS, 1, THREADS, 1};
  if (teams.whole) {
    int64_t full = (int64_t) launch->device->multiprocessors * MAX_THREADS;
    while (teams.threads < MAX_THREADS && rows * teams.threads < full &&
           packs > teams.threads * UNROLL)
      teams.threads *= 2;
    teams.lanes = teams.threads;
    teams.blocks = (int) (rows < INT32_MAX ? rows : INT32_MAX);
    return teams;
  }
  while (teams.lanes < 32 && teams.lanes < (packs > few ? packs : few))
    teams.lanes *= 2;
  int64_t threads = rows * teams.lanes;
  if (alone && threads <= ALONE)
    teams.threads = threads < MAX_THREADS ? ((int) threads + 31) / 32 * 32 : (int) MAX_THREADS;
  else
    teams.blocks = blocks_for (launch, threads, THREADS, 1 << 16);
  return teams;
}

/* A row as the packs between two 16-byte boundaries, and a few elements before and after them. */
template <class T> struct Span {
  int head, edges; /* elements before the packs; elements before and after them */
  int64_t packs;
  __device__
  Span (const T *row, int64_t columns)
  {
    int misfit = (int) ((uintptr_t) row & 15) / (int) sizeof (T);
    int64_t before = misfit ? wide<T> - misfit : 0;
    head = (int) (before < columns ? before : columns);
    packs = (columns - head) / wide<T>;
    edges = (int) (columns - packs * wide<T>);
  }
  /* Returns the index in the row of element i outside of the packs. */
  __device__ int64_t
  edge (int i) const
  {
    return i < head ? i : i + packs * wide<T>;
  }
};

/* Calls f (chunk, column) for the lane's part of a row; UNROLL packs are loaded before the first is
 * used. `f` may write the elements that it gets. With LAST the row is not reused, and the cache
 * evicts it first. */
template <bool LAST = false, class T, class F>
__device__ inline void
walk_row (const T *row, int64_t columns, int lane, int lanes, F f)
{
  constexpr int W = wide<T>;
  Span<T> span (row, columns);
  const uint4 *packs = reinterpret_cast<const uint4 *> (row + span.head);
  for (int i = lane; i < span.edges; i += lanes)
    f (load_chunk<1> (row + span.edge (i)), span.edge (i));
  for (int64_t base = lane; base < span.packs; base += lanes * UNROLL) {
    Words<T> words[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * lanes < span.packs)
        words[u].bits = LAST ? __ldcs (packs + base + u * lanes) : packs[base + u * lanes];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      if (base + u * lanes < span.packs)
        f (words[u], span.head + (base + u * lanes) * W);
  }
}

/* Writes zeros to the lane's part of a row. */
template <class T>
__device__ inline void
clear_row (T *row, int64_t columns, int lane, int lanes)
{
  Span<T> span (row, columns);
  for (int i = lane; i < span.edges; i += lanes)
    row[span.edge (i)] = narrow<T> (0);
  for (int64_t at = lane; at < span.packs; at += lanes)
    store_chunk (row + span.head + at * wide<T>, Words<T>{});
}
} /* namespace lig */
