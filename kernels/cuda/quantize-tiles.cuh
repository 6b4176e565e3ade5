/* SPDX-License-Identifier: MIT */
/* The kernels that quantize the tiles of a source. A block stays on its multiprocessor and takes
 * one tile after the other; while it writes one, the elements of the next are on their way.
 *
 * A source has `Type`, the type to which its elements are rounded, TILES, the number of tiles that
 * it computes together, BLOCKS and LINE_BLOCKS, as many as share a multiprocessor with one scale
 * and with those of lines, STAGED, the bytes of the block's memory that it needs, `fetch (q, row,
 * column, part, staged)`, which begins to read the elements of a thread that take the place of a
 * part, `stage (q, row, column, staged, last)`, which computes them, and writes what others read in
 * the last reading, `read (staged, tile, square)`, which gives those of a tile, and `column_of (q,
 * tile, column)`, the column of the matrix where that begins.
 */
#pragma once

#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* The lines of a tile, its rows or its columns: the kind of their scales, where these go, the
 * first line's number, the tile's number along the lines, and the lines' number and length. */
struct Side {
  int kind;
  float *scales;
  int64_t first, block, lines, length;
};

/* Returns the amax of the whole line of a tile whose scale a thread finds; 0 if none was found. It
 * is read early, as memory takes its time. */
__device__ inline float
known_amax (const Quantization &q, int64_t first_row, int64_t first_column)
{
  const bool of_row = threadIdx.x < EDGE;
  const uint32_t *amaxes = of_row ? q.row_amaxes : q.column_amaxes;
  int64_t at = (of_row ? first_row : first_column) + threadIdx.x % EDGE;
  return amaxes && at < (of_row ? q.rows : q.columns) ? __uint_as_float (amaxes[at]) : 0;
}

/* Returns the scale of a line from its amax, in the tile or known, and the amax of the tile, and
 * writes the inverse: one of each line, or one in all. */
__device__ inline float
scale_line (const Quantization &q, const Side &side, int line, float amax, float known, float all)
{
  int64_t at = side.first + line;
  int kind = side.kind;
  float most = amax;
  if (kind == LIG_SCALES_ROW)
    most = known;
  else if (kind == LIG_SCALES_TILE)
    most = all;
  float scale = kind == LIG_SCALES_TENSOR ? q.tensor_scale () : q.scale_of (most);
  bool writes = kind == LIG_SCALES_BLOCK  ? at < side.lines
                : kind == LIG_SCALES_ROW  ? side.block == 0 && at < side.lines
                : kind == LIG_SCALES_TILE ? line == 0
                                          : side.block == 0 && at == 0;
  int64_t to = kind == LIG_SCALES_BLOCK ? side.block * side.lines + at
               : kind == LIG_SCALES_ROW ? at
               : kind == LIG_SCALES_TILE
                 ? side.first / EDGE * lig_scales_stride (side.length) + side.block
                 : 0;
  if (side.scales && writes)
    side.scales[to] = lig_quantize_inverse (scale);
  return scale;
}

/* Finds the scales of the lines of a tile, and writes their inverses: half of the threads those of
 * the rows, the others those of the columns. */
__device__ inline void
find_scales (
  const Quantization &q, Shared &shared, int64_t first_row, int64_t first_column, float known)
{
  int line = threadIdx.x % EDGE;
  int64_t band = first_row / EDGE, block = first_column / EDGE;
  __syncthreads ();
  float all = q.finds_all ? most_of_warps (shared.warps, 1) : 0;
  if (threadIdx.x == 0 && q.recorded)
    raise (q.recorded, all);
  if (threadIdx.x < EDGE) {
    Side side = {q.row_kind, q.row_scale, first_row, block, q.rows, q.columns};
    shared.row_scales[line] = scale_line (q, side, line, shared.rows[line], known, all);
  } else if (q.transposed) {
    Side side = {q.transposed_kind, q.transposed_scale, first_column, band, q.columns, q.rows};
    float amax = q.finds_columns ? most_of_warps (&shared.columns[0][line], EDGE) : 0;
    shared.column_scales[line] = scale_line (q, side, line, amax, known, all);
  }
  __syncthreads ();
}

/* Stores SIDE bytes: at once if they are aligned. */
template <bool PACKED>
__device__ inline void
store_side (uint8_t *to, uint2 bytes, int64_t count)
{
  if constexpr (PACKED)
    *reinterpret_cast<uint2 *> (to) = bytes;
  else
    for (int j = 0; j < SIDE && j < count; j++)
      to[j] = (uint8_t) ((j < 4 ? bytes.x : bytes.y) >> j % 4 * 8);
}

/* The scale of each row where all have one. */
struct OneScale {
  float scale;
  __device__ float
  operator[] (int) const
  {
    return scale;
  }
};

/* Rounds the rows of a thread by their scales. */
template <__nv_fp8_interpretation_t FORMAT, class T, class Scales>
__device__ inline void
round_rows (const Quantization &q,
            const Square<T> &square,
            const Scales &scales,
            uint2 (&bytes)[SIDE])
{
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    float values[SIDE], scale = scales[threadIdx.x / ACROSS * SIDE + i];
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      split<T> (square.rows[i][p], values[2 * p], values[2 * p + 1]);
      values[2 * p] = scaled<T> (q, values[2 * p], scale);
      values[2 * p + 1] = scaled<T> (q, values[2 * p + 1], scale);
    }
    bytes[i] = quantized<FORMAT> (values);
  }
}

/* Writes the values that the bytes of a thread stand for. */
template <class Scales>
__device__ inline void
write_rounded (const Quantization &q,
               const Scales &scales,
               const uint2 (&bytes)[SIDE],
               int64_t at,
               int rows,
               int64_t count)
{
#pragma unroll
  for (int i = 0; i < SIDE; i++, at += q.columns) {
    float inverse = lig_quantize_inverse (scales[threadIdx.x / ACROSS * SIDE + i]);
    for (int j = 0; j < SIDE && j < count && i < rows; j++)
      q.rounded.set (at + j,
                     number_of (q, (uint8_t) ((j < 4 ? bytes[i].x : bytes[i].y) >> j % 4 * 8)) *
                       inverse);
  }
}

/* Writes the tile of the copy as it is, and the values that it stands for; keeps the bytes. */
template <bool PACKED, class T, class Scales>
__device__ inline void
write_rows (const Quantization &q,
            const Square<T> &square,
            const Scales &scales,
            int64_t row,
            int64_t column,
            uint2 (&bytes)[SIDE])
{
  int64_t at = row * q.columns + column, count = q.columns - column;
  int rows = count <= 0 ? 0 : q.rows - row < SIDE ? (int) (q.rows - row) : SIDE;
  if (q.narrow_exponent)
    round_rows<__NV_E4M3> (q, square, scales, bytes);
  else
    round_rows<__NV_E5M2> (q, square, scales, bytes);
  if (q.row && rows > 0) {
    uint8_t *to = q.row + at;
#pragma unroll
    for (int i = 0; i < SIDE; i++, to += q.columns)
      if (PACKED || i < rows)
        store_side<PACKED> (to, bytes[i], count);
  }
  if (q.rounded.data)
    write_rounded (q, scales, bytes, at, rows, count);
}

/* Transposes 4 by 4 bytes. */
__device__ inline void
transpose_words (uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d)
{
  uint32_t low = __byte_perm (a, b, 0x5140), low_too = __byte_perm (c, d, 0x5140);
  uint32_t high = __byte_perm (a, b, 0x7362), high_too = __byte_perm (c, d, 0x7362);
  a = __byte_perm (low, low_too, 0x5410);
  b = __byte_perm (low, low_too, 0x7632);
  c = __byte_perm (high, high_too, 0x5410);
  d = __byte_perm (high, high_too, 0x7632);
}

/* Transposes the bytes of a thread. */
__device__ inline void
transpose_bytes (uint2 (&bytes)[SIDE])
{
  transpose_words (bytes[0].x, bytes[1].x, bytes[2].x, bytes[3].x);
  transpose_words (bytes[0].y, bytes[1].y, bytes[2].y, bytes[3].y);
  transpose_words (bytes[4].x, bytes[5].x, bytes[6].x, bytes[7].x);
  transpose_words (bytes[4].y, bytes[5].y, bytes[6].y, bytes[7].y);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t kept = bytes[i].y;
    bytes[i].y = bytes[i + 4].x;
    bytes[i + 4].x = kept;
  }
}

/* Rounds the columns of a thread by scales of their own. */
template <__nv_fp8_interpretation_t FORMAT, class T>
__device__ inline void
round_columns (const Quantization &q,
               const Square<T> &square,
               const float *scales,
               uint2 (&bytes)[SIDE])
{
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    float first[SIDE], second[SIDE];
    float of_first = scales[2 * p], of_second = scales[2 * p + 1];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
      split<T> (square.rows[i][p], first[i], second[i]);
      first[i] = scaled<T> (q, first[i], of_first);
      second[i] = scaled<T> (q, second[i], of_second);
    }
    bytes[2 * p] = quantized<FORMAT> (first);
    bytes[2 * p + 1] = quantized<FORMAT> (second);
  }
}

/* Writes the tile of the transposed copy from the bytes of columns. Words of SIDE bytes lie in
 * shared memory in an order in which neither the writes down nor the reads across meet the same
 * bank. */
template <bool PACKED>
__device__ inline void
write_columns (const Quantization &q,
               const uint2 (&bytes)[SIDE],
               uint2 (*words)[ACROSS],
               int64_t first_row,
               int64_t first_column)
{
  int down = threadIdx.x / ACROSS, right = threadIdx.x % ACROSS;
  int64_t column = first_column + down, row = first_row + right * SIDE, count = q.rows - row;
  int columns = (int) (q.columns - column < EDGE ? q.columns - column : EDGE);
#pragma unroll
  for (int j = 0; j < SIDE; j++)
    words[right * SIDE + j][down ^ right] = bytes[j];
  __syncthreads ();
  if (count <= 0)
    return;
  uint8_t *to = q.transposed + column * q.rows + row;
  int64_t step = ACROSS * q.rows;
  /* Column i ACROSS + down was written to the place right ^ (i ACROSS + down) / SIDE. */
  const char *from = reinterpret_cast<const char *> (words[down]);
  int place = (right ^ down / SIDE) * (int) sizeof (uint2);
#pragma unroll
  for (int i = 0; i < SIDE; i++, to += step)
    if (i * ACROSS < columns)
      store_side<PACKED> (
        to,
        *reinterpret_cast<const uint2 *> (from + i * (int) sizeof (words[0]) * ACROSS +
                                          (place ^ i * ACROSS / SIDE * (int) sizeof (uint2))),
        count);
}

/* Writes the sums of a tile's columns. */
template <class T>
__device__ inline void
write_sums (const Quantization &q,
            const Square<T> &square,
            Shared &shared,
            int64_t first_row,
            int64_t first_column)
{
  float sums[SIDE] = {};
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      float first, second;
      split<T> (square.rows[i][p], first, second);
      sums[2 * p] += first;
      sums[2 * p + 1] += second;
    }
  fold_pair (ACROSS, Sum{}, sums);
  share_columns (sums, shared.columns);
  __syncthreads ();
  int64_t column = first_column + threadIdx.x;
  if (threadIdx.x >= EDGE || column >= q.columns)
    return;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    sum += shared.columns[i][threadIdx.x];
  q.sums[(first_row / EDGE - q.first_band) * q.columns + column] = sum;
}

/* The place of a tile, in tiles, and that of its elements. */
struct TilePlace {
  int down, across;
  __device__ int64_t
  first_row () const
  {
    return (int64_t) down * EDGE;
  }
  __device__ int64_t
  first_column () const
  {
    return (int64_t) across * EDGE;
  }
  /* Return the first row and column of a thread. */
  __device__ int64_t
  row () const
  {
    return first_row () + threadIdx.x / ACROSS * SIDE;
  }
  __device__ int64_t
  column () const
  {
    return first_column () + threadIdx.x % ACROSS * SIDE;
  }
};

/* Returns a tile of a launch by its number. */
__device__ inline TilePlace
tile_at (const Quantization &q, int number)
{
  int down = number / q.across;
  return {q.first_band + down, number - down * q.across};
}

/* Quantizes one tile that is in registers by scales of its lines, of which each thread knows the
 * amax of one, if it was found before. All threads of the block call it. */
template <bool PACKED, class T>
__device__ inline void
quantize_square (const Quantization &q,
                 const Square<T> &square,
                 Shared &shared,
                 const TilePlace &tile,
                 float known)
{
  uint2 bytes[SIDE];
  const float *scales = shared.column_scales + threadIdx.x % ACROSS * SIDE;
  find_amaxes (square, q, shared);
  find_scales (q, shared, tile.first_row (), tile.first_column (), known);
  if (q.row || q.rounded.data || q.shares_scale)
    write_rows<PACKED> (q, square, (const float *) shared.row_scales, tile.row (), tile.column (),
                        bytes);
  if (!q.transposed)
    return;
  if (q.shares_scale)
    transpose_bytes (bytes);
  else if (q.narrow_exponent)
    round_columns<__NV_E4M3> (q, square, scales, bytes);
  else
    round_columns<__NV_E5M2> (q, square, scales, bytes);
  write_columns<PACKED> (q, bytes, shared.words, tile.first_row (), tile.first_column ());
}

/* Quantizes one tile that is in registers by one scale. All threads of the block call it. */
template <bool PACKED, class T>
__device__ inline void
quantize_uniform (const Quantization &q,
                  const Square<T> &square,
                  Shared &shared,
                  const TilePlace &tile,
                  float scale,
                  Pair<T> &amax)
{
  uint2 bytes[SIDE];
  if (q.recorded)
    amax = amax_of (square, amax);
  write_rows<PACKED> (q, square, OneScale{scale}, tile.row (), tile.column (), bytes);
  if (!q.transposed)
    return;
  transpose_bytes (bytes);
  write_columns<PACKED> (q, bytes, shared.words, tile.first_row (), tile.first_column ());
}

/* Raises a number in memory to the greatest of a pair in any thread of the block: once, as all
 * blocks end at the same time. `warps` is shared. */
template <class T>
__device__ inline void
raise_to_pair (uint32_t *to, Pair<T> pair, float (&warps)[WARPS])
{
  float most = warp_amax<T> (pair);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = most;
  __syncthreads ();
  if (threadIdx.x == 0)
    raise (to, most_of_warps (warps, 1));
}

/* Records the amax, and writes the inverse of the scale that all elements have. */
template <class T>
__device__ inline void
finish_uniform (const Quantization &q, Shared &shared, float scale, Pair<T> amax)
{
  if (q.recorded)
    raise_to_pair<T> (q.recorded, amax, shared.warps);
  if (blockIdx.x > 0 || threadIdx.x > 0 || q.first_band > 0)
    return;
  if (q.row_scale && q.row_kind == LIG_SCALES_TENSOR)
    *q.row_scale = lig_quantize_inverse (scale);
  if (q.transposed_scale && q.transposed_kind == LIG_SCALES_TENSOR)
    *q.transposed_scale = lig_quantize_inverse (scale);
}

/* The number of blocks of a source that share a multiprocessor, with one scale or with those of
 * lines. */
template <class S, bool UNIFORM>
constexpr int blocks_together = UNIFORM ? S::BLOCKS : S::LINE_BLOCKS;

/* Quantizes the tiles of a source. PACKED: both copies are aligned to SIDE bytes. UNIFORM: all
 * copies have one scale, which is known. */
template <class S, bool PACKED, bool UNIFORM>
__global__ void
__launch_bounds__ (THREADS, (blocks_together<S, UNIFORM>) )
  quantize_tiles (const __grid_constant__ Quantization q, const __grid_constant__ S source)
{
  using T = typename S::Type;
  __shared__ Shared shared;
  extern __shared__ uint4 staged[];
  Pair<T> amax = {};
  float scale = UNIFORM ? q.tensor_scale () : 0;
  TilePlace next = tile_at (q, blockIdx.x);
  for (int i = 0; i < S::TILES; i++)
    source.fetch (q, next.row (), next.column (), i, staged);
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x) {
    TilePlace tile = next;
    const bool more = number < q.tiles - (int) gridDim.x;
    if (more)
      next = tile_at (q, number + (int) gridDim.x);
    float known = UNIFORM ? 0 : known_amax (q, tile.first_row (), tile.first_column ());
    source.stage (q, tile.row (), tile.column (), staged, true);
#pragma unroll 1
    for (int i = 0; i < S::TILES; i++) {
      Square<T> square;
      TilePlace part = {tile.down, tile.across + i * q.across};
      source.read (staged, i, square);
      if (more)
        source.fetch (q, next.row (), next.column (), i, staged);
      if (q.sums) {
        write_sums (q, square, shared, part.first_row (), part.first_column ());
        __syncthreads ();
      }
      if constexpr (UNIFORM)
        quantize_uniform<PACKED> (q, square, shared, part, scale, amax);
      else
        quantize_square<PACKED> (q, square, shared, part, known);
      if (!UNIFORM && i + 1 < S::TILES)
        known = known_amax (q, part.first_row (), part.first_column () + (int64_t) q.across * EDGE);
      if (!UNIFORM || q.transposed || q.sums)
        __syncthreads ();
    }
  }
  if constexpr (UNIFORM)
    finish_uniform<T> (q, shared, scale, amax);
}
} /* namespace lig */
