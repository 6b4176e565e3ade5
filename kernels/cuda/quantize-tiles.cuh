/* SPDX-License-Identifier: MIT */
/* The kernel that quantizes the tiles of any source with any kind of scales, for the cases that the
 * faster quantize_walk does not support: other types and alignments, tile scales and whole-column
 * scales, and rounded values. The kernel is persistent: a threadblock processes one tile after the
 * other. All of its threads compute the tile's elements into shared memory; then they write the
 * rows and the columns, while the elements of the next tile are being loaded. On an H100 one
 * threadblock per SM with many threads, half of them for the rows and half for the columns, is
 * faster than two: accessing fewer places of DRAM at a time changes DRAM rows less often. Only if
 * arithmetic intensity is high, two threadblocks hide it better.
 *
 * A source has `Type`, the type to which its elements are rounded; TILES, the number of tiles that
 * it computes together; `Block`, the kind of the threadblocks, BLOCKS of which share an SM; STAGED,
 * the bytes of shared memory that it needs, in which TILE_WORDS 16-byte words are those of a tile;
 * `fetch (q, place, staged)`, which issues the loads of a thread's elements; `stage (q, place,
 * staged, extremes)`, which computes them and raises the extremes by them, if the launch needs
 * these; and `column_of (q, tile, column)`, the column of the matrix at which a tile begins. */
#pragma once

#include "kernels/cuda/quantize-lines.cuh"

namespace lig
{
/* Writes the rows or the columns of a tile. Their scales are the per-tensor one, `tensor`, or are
 * computed from the amax of a thread's own line, if that was found before, of the line in the tile,
 * or of the tile, for which `warps` has those of each warp. All participating threads call it. */
template <bool ROWS, bool PACKED, class T, int N>
__device__ inline void
write_side (const Quantization &q,
            const uint4 *elements,
            const TilePlace &tile,
            float tensor,
            float line,
            const float (&warps)[N])
{
  const Side side = tile.side<ROWS> (q);
  const int64_t along = (ROWS ? tile.first_column () : tile.first_row ()) + first_along ();
  const bool rounds = side.copy || (ROWS && q.rounded.data);
  Square<T> square;
  float scales[SIDE];
  uint2 bytes[SIDE];
  if (rounds || (!ROWS && q.sums))
    read_square<ROWS> (elements, square);
  if (!ROWS && q.sums)
    write_sums (q, tile, square);
  if (!rounds)
    return;
  const float all = side.kind == LIG_SCALES_TILE ? max_of_warps (warps) : 0;
  round_side<ROWS> (q, square, side, tensor, line, all, scales, bytes);
  if (side.copy)
    store_lines<PACKED> (side, along, bytes);
  if (ROWS && q.rounded.data)
    write_rounded (q, side, along, scales, bytes);
}

/* Records the amax, and writes the inverses of the scale that all elements have. */
template <class T, int N>
__device__ inline void
finish_tiles (const Quantization &q, float (&warps)[N], float scale, Pair<T> amax)
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

/* Quantizes the tiles of a source. PACKED: both copies are aligned to SIDE bytes. Shared memory has
 * `places` buffers for elements: one, or two that alternate. */
template <class S, bool PACKED>
__global__ void
__launch_bounds__ (S::Block::EACH, S::BLOCKS)
  quantize_tiles (const __grid_constant__ Quantization q,
                  const __grid_constant__ S source,
                  int places)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  using Block = typename S::Block;
  constexpr int PLACE = S::STAGED / sizeof (uint4);
  __shared__ float warps[2][S::TILES][S::Block::N_WARPS];
  extern __shared__ uint4 staged[];
  Pair<T> amax = {};
  int turn = 0;
  const float scale = q.tensor_scale ();
  TilePlace next = tile_at (q, blockIdx.x);
  source.fetch (q, next, staged);
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x, turn = places - 1 - turn) {
    const TilePlace tile = next;
    uint4 *const elements = staged + turn * PLACE;
    const bool more = number < q.tiles - (int) gridDim.x;
    Extremes<T> extremes[S::TILES] = {};
    float of_row = 0, of_columns[S::TILES];
    if (Block::takes_rows ())
      of_row = known_amax<true> (q, tile.side<true> (q));
#pragma unroll
    for (int i = 0; i < S::TILES; i++)
      if (Block::takes_columns ())
        of_columns[i] =
          known_amax<false> (q, TilePlace{tile.down, tile.across + i * q.across}.side<false> (q));
    if (more)
      next = tile_at (q, number + (int) gridDim.x);
    source.stage (q, tile, elements, extremes);
#pragma unroll
    for (int i = 0; i < S::TILES; i++) {
      if (q.recorded)
        amax = greater<T> (amax, extremes[i].amax ());
      if (q.has_scales_of_tiles ())
        leave_amax<T> (extremes[i].amax (), warps[turn][i]);
    }
    __syncthreads ();
    if (more && places > 1)
      source.fetch (q, next, staged + (1 - turn) * PLACE);
#pragma unroll 1
    for (int i = 0; i < S::TILES; i++) {
      const TilePlace part = {tile.down, tile.across + i * q.across};
      const uint4 *from = elements + i * S::TILE_WORDS;
      if (Block::takes_rows ())
        write_side<true, PACKED, T> (q, from, part, scale, of_row, warps[turn][i]);
      if (Block::takes_columns ())
        write_side<false, PACKED, T> (q, from, part, scale, of_columns[i ? S::TILES - 1 : 0],
                                      warps[turn][i]);
    }
    if (places == 1)
      __syncthreads ();
    if (more && places == 1)
      source.fetch (q, next, elements);
  }
  finish_tiles<T> (q, warps[0][0], scale, amax);
#endif
}
} /* namespace lig */
