/* SPDX-License-Identifier: MIT */
/* The kernel that quantizes the tiles of a source whose rows a threadblock computes one after the
 * other. A thread has SIDE rows of a tile, and SIDE elements of each, and prefetches later rows to
 * its own ring, even while the threadblock waits: memory is always busy. The copies are written by
 * a policy C, those of quantize-known.cuh and quantize-blocks.cuh. It has KNOWN, whether scales are
 * known before, so that rows past the end of the matrix can be skipped; TILE_BYTES, the bytes of
 * shared memory for the columns of a tile; TURNS, 2 if one tile is written while the next is
 * computed; BLOCKS, the number of threadblocks per SM; `take_row ()`, which is given a thread's
 * elements of a row; `write_rows ()`, called when the thread has all of them; and `write_columns
 * ()`, called when the threadblock has all of them. */
#pragma once

#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/async-copy.cuh"
#include "kernels/cuda/quantize-tiles.cuh"

namespace lig
{
/* The ring of a thread: the number of its rows, one that is computed and those in flight, the
 * number of 16-byte vectors of each, and the bytes of a threadblock's rings. */
template <class S> struct Ring {
  static constexpr int PARTS = sizeof (typename S::Raw) / sizeof (uint4);
  static constexpr int ROWS = PARTS > 2 ? 3 : 4;
  static constexpr int SLOT = PARTS * THREADS, BYTES = ROWS * SLOT * (int) sizeof (uint4);
};

/* The bytes for the column sums of a tile, per warp. */
constexpr int SUM_BYTES = WARPS * EDGE * (int) sizeof (float);

/* The values of the row that a thread holds for the lanes that share it, and its amax, if that was
 * found before. */
template <class Row> struct OwnRow {
  Row numbers;
  float amax;
};

/* Returns the values of a lane, out of the ACROSS lanes that share rows. */
template <class Row>
__device__ inline Row
numbers_of (const Row &own, int lane)
{
  if constexpr (std::is_same_v<Row, Nothing>) {
    return {};
  } else {
    uint32_t words[sizeof (Row) / 4];
    Row numbers;
    memcpy (words, &own, sizeof words);
#pragma unroll
    for (int i = 0; i < (int) sizeof (Row) / 4; i++)
      words[i] = __shfl_sync (0xffffffffu, words[i], lane, ACROSS);
    memcpy (&numbers, words, sizeof words);
    return numbers;
  }
}

/* Loads the values of the row of a tile that a thread holds for others. */
template <class S>
__device__ inline OwnRow<typename S::OfRow>
read_own_row (const Quantization &q, const S &source, const TilePlace &tile)
{
  return {source.row_at (q, tile.first_row () + own_line ()),
          known_amax<true> (q, tile.side<true> (q))};
}

/* The tiles of a threadblock, and the rows of them that a thread prefetches. */
template <class S> struct TileWalk {
  static constexpr int STREAMS = Ring<S>::PARTS / S::CHUNKS;
  TilePlace next; /* the tile that is being prefetched */
  int down, across, left;
  bool inside;
  const uint4 *from[STREAMS];
  int64_t steps[STREAMS];

  /* Points to the first row of the prefetched tile. */
  __device__ void
  begin_tile (const Quantization &q, const S &source)
  {
    const int64_t row = next.first_row () + first_line ();
    const int64_t column = next.first_column () + first_along ();
    inside = left > 0 && row < q.rows && column < q.columns / S::TILES;
#pragma unroll
    for (int s = 0; s < STREAMS; s++)
      from[s] = source.source_of (q, s, inside ? row : 0, inside ? column : 0);
  }

  __device__
  TileWalk (const Quantization &q, const S &source)
      : next (tile_at (q, blockIdx.x)), down ((int) gridDim.x / q.across),
        across ((int) gridDim.x % q.across),
        left ((q.tiles - (int) blockIdx.x + (int) gridDim.x - 1) / (int) gridDim.x)
  {
#pragma unroll
    for (int s = 0; s < STREAMS; s++)
      steps[s] = source.source_of (q, s, 1, 0) - source.source_of (q, s, 0, 0);
    begin_tile (q, source);
  }

  /* Returns the next tile of the threadblock. */
  __device__ TilePlace
  after (const Quantization &q, const TilePlace &tile) const
  {
    const bool wraps = tile.across + across >= q.across;
    return {tile.down + down + wraps, tile.across + across - (wraps ? q.across : 0)};
  }

  /* Issues the copy of the next row, which is the first of the next tile if `begins`. */
  __device__ void
  fetch (const Quantization &q, const S &source, uint4 *slot, bool begins)
  {
    if (begins) {
      next = after (q, next);
      left--;
      begin_tile (q, source);
    }
#pragma unroll
    for (int s = 0; s < STREAMS; s++) {
#pragma unroll
      for (int c = 0; c < S::CHUNKS; c++)
        copy_async (slot + (s * S::CHUNKS + c) * THREADS, from[s] + c, inside);
      from[s] += steps[s];
    }
    commit_copies ();
  }
};

/* Sets a thread's elements of a row from its ring. */
template <class S>
__device__ inline void
read_ring (const uint4 *slot, typename S::Raw &raw)
{
#pragma unroll
  for (int part = 0; part < Ring<S>::PARTS; part++)
    raw[part / S::CHUNKS][part % S::CHUNKS] = slot[part * THREADS];
}

/* The tasks of a launch, as bits, which take fewer instructions than the operands from which they
 * are derived. */
enum Task { ADDS = 1, RECORDS = 2, KEEPS = 4, STORES_ROWS = 8, STORES_COLUMNS = 16, BY_ROWS = 32 };
template <class S>
__device__ inline int
tasks_of (const Quantization &q, const S &source)
{
  return uncertain ((q.sums ? ADDS : 0) | (q.recorded ? RECORDS : 0) |
                    (!S::PLAIN && source.values ? KEEPS : 0) | (q.row ? STORES_ROWS : 0) |
                    (q.transposed ? STORES_COLUMNS : 0) |
                    (q.row_kind == LIG_SCALES_ROW ? BY_ROWS : 0));
}

/* Rounds a thread's elements of a line by its scale. */
template <class T>
__device__ inline uint2
bytes_of (const Quantization &q, const float (&values)[SIDE], float scale)
{
  float numbers[SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    numbers[i] = scaled<T> (q, values[i], scale);
  return quantized (numbers, q.narrow_exponent);
}

/* Stores the sums of a thread's columns over its warp in shared memory. */
__device__ inline void
leave_sums (float (&sums)[SIDE], float *to)
{
  fold_pair (ACROSS, Sum{}, sums);
  if (threadIdx.x % 32 >= ACROSS)
    return;
  float4 *const at = reinterpret_cast<float4 *> (to + threadIdx.x / 32 * EDGE + first_along ());
  at[0] = make_float4 (sums[0], sums[1], sums[2], sums[3]);
  at[1] = make_float4 (sums[4], sums[5], sums[6], sums[7]);
}

/* Writes the column sums of a tile, `width` columns of which are in the matrix. `column` is the
 * column of the matrix at which the tile begins. */
__device__ inline void
store_sums (
  const Quantization &q, const float *from, const TilePlace &tile, int64_t column, int64_t width)
{
  const int own = (int) threadIdx.x;
  float sum = 0;
  if (own >= EDGE || own >= width)
    return;
#pragma unroll
  for (int warp = 0; warp < WARPS; warp++)
    sum += from[warp * EDGE + own];
  q.sums[(int64_t) (tile.down - q.first_band) * q.columns + column + own] = sum;
}

/* Returns the slot of a later row in a ring. */
template <int RING>
__device__ inline int
slot_of (int first, int rows)
{
  return SIDE % RING ? (first + rows) % RING : rows % RING;
}

/* The shared memory of a threadblock: the rings of its threads, the buffers for the columns of the
 * tiles that are computed together, and the sums of these columns. */
template <class S, class C> struct WalkLayout {
  static constexpr int TILES_AT = Ring<S>::BYTES, TURN_BYTES = S::TILES * C::TILE_BYTES;
  static constexpr int SUMS_AT = TILES_AT + C::TURNS * TURN_BYTES;
  static constexpr int
  bytes (bool sums)
  {
    return SUMS_AT + (sums ? C::TURNS * S::TILES * SUM_BYTES : 0);
  }
};

/* Passes a thread's elements of a row, `at` in the matrix, to their uses. */
template <class S, class C>
__device__ inline void
use_row (const Quantization &q,
         const S &source,
         int tasks,
         const Words<typename S::Type> (&words)[S::CHUNKS],
         float scale,
         float row_scale,
         int64_t at,
         int line,
         Extremes<typename S::Type> &extremes,
         float (&sums)[SIDE],
         void *memory)
{
  using T = typename S::Type;
  Pair<T> pairs[PAIRS];
  float values[SIDE];
  memcpy (pairs, words, sizeof pairs);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    split<T> (pairs[p], values[2 * p], values[2 * p + 1]);
  if (tasks & (RECORDS | KEEPS)) {
    if (tasks & RECORDS)
      S::raise (extremes, words);
    if (!S::PLAIN && tasks & KEEPS)
      source.store (words, at);
  }
  if (tasks & ADDS)
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      sums[i] += values[i];
  C::template take_row<T> (q, tasks, words, values, scale, row_scale, at, line, memory);
}

/* Writes the columns of the tiles that were computed together, and their sums. */
template <class S, class C>
__device__ inline void
finish_tile (const Quantization &q,
             const S &source,
             int tasks,
             const TilePlace &tile,
             const char *memory,
             const float *sums)
{
  const int64_t width = q.columns / S::TILES - tile.first_column ();
#pragma unroll
  for (int t = 0; t < S::TILES; t++) {
    const int64_t column = source.column_of (q, t, tile.first_column ());
    if (tasks & STORES_COLUMNS)
      C::template write_columns<typename S::Type> (q, memory + t * C::TILE_BYTES, tile, column,
                                                   first_line () < width);
    if (tasks & ADDS)
      store_sums (q, sums + t * WARPS * EDGE, tile, column, width);
  }
}

/* Quantizes the tiles of a source. */
template <class S, class C>
__global__ void
__launch_bounds__ (THREADS, C::BLOCKS)
  quantize_walk (const __grid_constant__ Quantization q, const __grid_constant__ S source)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  using Layout = WalkLayout<S, C>;
  constexpr int TILES = S::TILES, RING = Ring<S>::ROWS, SLOT = Ring<S>::SLOT;
  __shared__ float warps[WARPS];
  extern __shared__ uint4 staged[];
  uint4 *const ring = staged + threadIdx.x;
  const int tasks = tasks_of (q, source);
  const float scale = q.tensor_scale ();
  Extremes<T> extremes = {};
  TilePlace tile = tile_at (q, blockIdx.x);
  TileWalk<S> walk (q, source);
  OwnRow<typename S::OfRow> own = {};
  if ((int) blockIdx.x < q.tiles)
    own = read_own_row (q, source, tile);
#pragma unroll
  for (int i = 0; i < RING - 1; i++)
    walk.fetch (q, source, ring + i * SLOT, false);
  int turn = 0, slot = 0;
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x) {
    char *const memory = (char *) staged + Layout::TILES_AT + turn * Layout::TURN_BYTES;
    float *const kept = (float *) ((char *) staged + Layout::SUMS_AT + turn * TILES * SUM_BYTES);
    const TilePlace next = walk.after (q, tile);
    const int64_t row = tile.first_row () + first_line ();
    const int64_t column = tile.first_column () + first_along ();
    const bool inside = row < q.rows && column < q.columns / TILES;
    const auto columns = source.columns_at (inside ? column : 0);
    const auto numbers = own.numbers;
    float sums[TILES][SIDE] = {}, own_scale = 0;
    if (C::KNOWN && tasks & BY_ROWS) {
      own_scale = q.scale_of (own.amax);
      write_scale (tile.side<true> (q), own_scale);
    }
    if (number < q.tiles - (int) gridDim.x)
      own = read_own_row (q, source, next);
    int64_t at = row * q.columns + column;
#pragma unroll 1
    for (int i = 0; i < SIDE; i++, at += q.columns) {
      const uint4 *const here = ring + slot_of<RING> (slot, i) * SLOT;
      walk.fetch (q, source, ring + slot_of<RING> (slot, i + RING - 1) * SLOT,
                  i == SIDE + 1 - RING);
      const auto of_row = numbers_of (numbers, i);
      float row_scale = 0;
      if (C::KNOWN && tasks & BY_ROWS)
        row_scale = __shfl_sync (0xffffffffu, own_scale, i, ACROSS);
      await_copies<RING - 1> ();
      Words<T> words[TILES][S::CHUNKS] = {};
      typename S::Raw raw;
      if (inside) {
        read_ring<S> (here, raw);
        source.compute (raw, of_row, columns, words);
      }
      if (inside || !C::KNOWN)
#pragma unroll
        for (int t = 0; t < TILES; t++)
          use_row<S, C> (q, source, inside ? tasks : 0, words[t], scale, row_scale,
                         source.column_of (q, t, at), i, extremes, sums[t],
                         memory + t * C::TILE_BYTES);
    }
    if (tasks & ADDS)
#pragma unroll
      for (int t = 0; t < TILES; t++)
        leave_sums (sums[t], kept + t * WARPS * EDGE);
    C::template write_rows<S> (q, source, tasks, tile, memory);
    __syncthreads ();
    finish_tile<S, C> (q, source, tasks, tile, memory, kept);
    if (C::TURNS == 1)
      __syncthreads ();
    turn = C::TURNS - 1 - turn;
    slot = (slot + SIDE) % RING;
    tile = next;
  }
  await_copies<0> ();
  finish_tiles<T> (q, warps, scale, extremes.amax ());
#endif
}
} /* namespace lig */
