/* SPDX-License-Identifier: MIT */
/* The kernel that quantizes the tiles of a source. A block stays on its multiprocessor and takes
 * one tile after the other. The tile's elements lie in shared memory, from where each warp takes 16
 * of its rows, and then 16 of its columns: it finds their scales and writes them by itself. While
 * it does, the elements of the next tile are on their way.
 *
 * A source has `Type`, the type to which its elements are rounded, TILES, the number of tiles that
 * it computes together, BLOCKS, as many blocks as share a multiprocessor, STAGED, the bytes of the
 * block's memory that it needs, `slot (staged, tile, turn)`, where a tile is stored in a turn, in
 * two places by turns if it is DOUBLE, `fetch (q, place, staged, tile, turn)`, which begins to read
 * the elements whose place a tile takes, `fetch_all (q, place, staged)`, which begins to read all
 * of the first turn, `stage (q, place, next, more, staged, turn)`, which computes the tiles and, if
 * there are more, begins to read the next elements of streams whose places no tile takes, and
 * `column_of (q, tile, column)`, the column of the matrix where a tile begins.
 */
#pragma once

#include "kernels/cuda/quantize-lines.cuh"

namespace lig
{
/* Returns the amax of a tile. All threads of the block call it, and pass another barrier between
 * two calls. */
template <class T>
__device__ inline float
tile_amax (const Square<T> &square, float (&warps)[WARPS])
{
  float most = warp_amax<T> (amax_of (square, Pair<T>{}));
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = most;
  __syncthreads ();
  return most_of_warps (warps);
}

/* A tile in shared memory, its place, and the numbers that its scales follow from. */
template <class T> struct TileInWork {
  uint4 *elements;
  TilePlace place;
  float tensor; /* the scale of the whole matrix */
  Known known;
  float all; /* the amax of the tile, if a scale follows from it */
};

/* Writes the rows of a tile. If the columns have the same scales it leaves their bytes there. All
 * threads of the block call it. */
template <bool PACKED, class T>
__device__ inline void
write_rows (const Quantization &q, TileInWork<T> &tile, float (&warps)[WARPS], Pair<T> &amax)
{
  Square<T> square;
  float scales[SIDE];
  uint2 bytes[SIDE];
  const Side side = tile.place.template side<true> (q);
  const int64_t along = tile.place.column ();
  read_square<true> (tile.elements, square);
  if (q.shares_scale && q.sums)
    leave_sums<T> (tile.elements, square);
  if (q.recorded)
    amax = amax_of (square, amax);
  if (q.row_kind == LIG_SCALES_TILE || q.transposed_kind == LIG_SCALES_TILE)
    tile.all = tile_amax (square, warps);
  if (!q.row && !q.rounded.data && !q.shares_scale)
    return;
  round_side<true> (q, square, side, tile.tensor, tile.known.row, tile.all, scales, bytes);
  if (q.row)
    store_lines<PACKED> (side, along, bytes);
  if (q.rounded.data)
    write_rounded (q, side, along, scales, bytes);
  if (q.shares_scale)
    leave_bytes<T> (tile.elements, bytes);
}

/* Writes the columns of a tile after its rows. Each thread calls `release` when it has read all
 * that it needs. All threads of the block call it. */
template <bool PACKED, class T, class Release>
__device__ inline void
write_columns (const Quantization &q, const TileInWork<T> &tile, Release release)
{
  const Side side = tile.place.template side<false> (q);
  const int64_t along = tile.place.first_row () + first_along ();
  float scales[SIDE];
  uint2 bytes[SIDE];
  if (q.shares_scale) {
    if (q.sums)
      write_sums (q, tile.place, taken_sums<T> (tile.elements));
    take_bytes<T> (tile.elements, bytes);
    release ();
    if (side.kind == LIG_SCALES_TILE)
      write_scale (side, q.scale_of (tile.all));
    store_lines<PACKED> (side, along, bytes);
    return;
  }
  Square<T> square;
  read_square<false> (tile.elements, square);
  release ();
  if (q.sums)
    write_sums (q, tile.place, sums_of (square));
  if (!q.transposed)
    return;
  round_side<false> (q, square, side, tile.tensor, tile.known.column, tile.all, scales, bytes);
  store_lines<PACKED> (side, along, bytes);
}

/* Records the amax, and writes the inverses of the scale that all elements have. */
template <class T>
__device__ inline void
finish_tiles (const Quantization &q, float (&warps)[WARPS], float scale, Pair<T> amax)
{
  if (q.recorded) {
    __syncthreads ();
    raise_to_pair<T> (q.recorded, amax, warps);
  }
  if (blockIdx.x > 0 || threadIdx.x > 0 || q.first_band > 0)
    return;
  const TilePlace tile = {};
  Side rows = tile.side<true> (q), columns = tile.side<false> (q);
  if (rows.scales && rows.kind == LIG_SCALES_TENSOR)
    *rows.scales = lig_quantize_inverse (scale);
  if (columns.scales && columns.kind == LIG_SCALES_TENSOR)
    *columns.scales = lig_quantize_inverse (scale);
}

/* Quantizes the tiles of a source. PACKED: both copies are aligned to SIDE bytes. */
template <class S, bool PACKED>
__global__ void
__launch_bounds__ (THREADS, S::BLOCKS)
  quantize_tiles (const __grid_constant__ Quantization q, const __grid_constant__ S source)
{
  using T = typename S::Type;
  __shared__ float warps[WARPS];
  extern __shared__ uint4 staged[];
  Pair<T> amax = {};
  const float scale = q.tensor_scale ();
  TilePlace next = tile_at (q, blockIdx.x);
  source.fetch_all (q, next, staged);
  int turn = 0;
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x, turn ^= 1) {
    const TilePlace tile = next;
    const bool more = number < q.tiles - (int) gridDim.x;
    if (more)
      next = tile_at (q, number + (int) gridDim.x);
    Known known (q, tile);
    source.stage (q, tile, next, more, staged, turn);
#pragma unroll 1
    for (int i = 0; i < S::TILES; i++) {
      TileInWork<T> part = {
        source.slot (staged, i, turn), {tile.down, tile.across + i * q.across}, scale, known};
      if (i + 1 < S::TILES)
        known = Known (q, {tile.down, part.place.across + q.across});
      auto meet = [&] {
        __syncthreads ();
        if (S::DOUBLE && more)
          source.fetch (q, next, staged, i, turn ^ 1);
      };
      if (!q.shares_scale)
        meet ();
      write_rows<PACKED> (q, part, warps, amax);
      if (q.shares_scale)
        meet ();
      write_columns<PACKED> (q, part, [&] {
        if (S::DOUBLE)
          return;
        __syncthreads ();
        if (more)
          source.fetch (q, next, staged, i, turn);
      });
    }
  }
  finish_tiles<T> (q, warps, scale, amax);
}
} /* namespace lig */
