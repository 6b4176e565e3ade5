/* SPDX-License-Identifier: MIT */
/* The rows and the columns of a tile of 128 by 128 elements in shared memory. Sixteen
 * neighbouring lanes share eight lines, rows or columns, each of them eight elements of every line:
 * they find the lines' scales, round their elements, and write them as rows of a copy. */
#pragma once

#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* The rows or the columns of a tile: the copy that has them as its rows, the kind of their scales,
 * where these go, the amaxes of the whole lines, the first line's number, the tile's number along
 * the lines, and the lines' number and length. */
struct Side {
  int kind;
  uint8_t *copy;
  float *scales;
  const uint32_t *amaxes;
  int64_t first, block, lines, length;
};

/* Returns the first of the SIDE lines of a tile that a thread has, and the first of its SIDE
 * elements of them. */
__device__ inline int
first_line ()
{
  return (int) threadIdx.x / ACROSS * SIDE;
}
__device__ inline int
first_along ()
{
  return (int) threadIdx.x % ACROSS * SIDE;
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
  /* Return the first row and column that a thread computes. */
  __device__ int64_t
  row () const
  {
    return first_row () + first_line ();
  }
  __device__ int64_t
  column () const
  {
    return first_column () + first_along ();
  }
  template <bool ROWS>
  __device__ Side
  side (const Quantization &q) const
  {
    if constexpr (ROWS)
      return {q.row_kind,   q.row,        q.row || q.rounded.data ? q.row_scale : nullptr,
              q.row_amaxes, first_row (), across,
              q.rows,       q.columns};
    else
      return {q.transposed_kind, q.transposed,    q.transposed ? q.transposed_scale : nullptr,
              q.column_amaxes,   first_column (), down,
              q.columns,         q.rows};
  }
};

/* Returns a tile of a launch by its number. */
__device__ inline TilePlace
tile_at (const Quantization &q, int number)
{
  int down = number / q.across;
  return {q.first_band + down, number - down * q.across};
}

/* The line whose scale a thread finds; each is given to two of them. */
__device__ inline int
own_line ()
{
  return first_line () + (int) threadIdx.x % SIDE;
}

/* The amaxes of the whole row and column whose scales a thread finds; 0 if none were found. They
 * are read early, as memory takes its time. */
struct Known {
  float row, column;
  __device__ static float
  read (const Side &side)
  {
    int64_t line = side.first + own_line ();
    return side.amaxes && line < side.lines ? __uint_as_float (side.amaxes[line]) : 0;
  }
  __device__
  Known (const Quantization &q, const TilePlace &tile)
      : row (read (tile.side<true> (q))), column (read (tile.side<false> (q)))
  {
  }
};

/* Returns a number for the thread's own line, combined from those of its elements. */
template <class F>
__device__ inline float
fold_lines (float (&values)[SIDE], F f)
{
  share_folded (values, 1, f);
  fold_pair (SIDE, f, values[0]);
  return values[0];
}

/* Returns the amax of the thread's own line within the tile. */
template <bool ROWS, class T>
__device__ inline float
line_amax (const Square<T> &square)
{
  Extremes<T> extremes[SIDE] = {};
  float most[SIDE];
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      extremes[ROWS ? i : p].raise_to (square.rows[i][p]);
#pragma unroll
  for (int i = 0; i < (ROWS ? SIDE : PAIRS); i++) {
    float first, second;
    split<T> (extremes[i].amax (), first, second);
    if constexpr (ROWS) {
      most[i] = fmaxf (first, second);
    } else {
      most[2 * i] = first;
      most[2 * i + 1] = second;
    }
  }
  return fold_lines (most, Larger{});
}

/* Writes the inverse of the scale of the thread's own line: one of each line, or one in all. */
__device__ inline void
write_scale (const Side &side, float scale)
{
  int64_t at = side.first + own_line ();
  bool tile = side.kind == LIG_SCALES_TILE, block = side.kind == LIG_SCALES_BLOCK;
  if (!side.scales || threadIdx.x % ACROSS >= SIDE)
    return;
  if (tile ? threadIdx.x == 0 : at < side.lines && (block || side.block == 0))
    side.scales[tile    ? side.first / EDGE * lig_scales_stride (side.length) + side.block
                : block ? side.block * side.lines + at
                        : at] = lig_quantize_inverse (scale);
}

/* Finds the scales of a thread's lines from the amax of its own line, and writes their inverses. */
__device__ inline void
find_scales (const Quantization &q, const Side &side, float amax, float (&scales)[SIDE])
{
  float scale = q.scale_of (amax);
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    scales[i] = __shfl_sync (0xffffffffu, scale, i, ACROSS);
  write_scale (side, scale);
}

/* Gives the elements of a line of a thread. */
template <bool ROWS, class T>
__device__ inline void
line_of (const Square<T> &square, int line, float (&values)[SIDE])
{
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    float first, second;
    split<T> (ROWS ? square.rows[line][i / 2] : square.rows[i][line / 2], first, second);
    values[i] = (ROWS ? i : line) % 2 ? second : first;
  }
}

/* Rounds the lines of a thread by their scales. */
template <__nv_fp8_interpretation_t FORMAT, bool ROWS, class T>
__device__ inline void
round_lines (const Quantization &q,
             const Square<T> &square,
             const float (&scales)[SIDE],
             uint2 (&bytes)[SIDE])
{
#pragma unroll
  for (int line = 0; line < SIDE; line++) {
    float values[SIDE];
    line_of<ROWS> (square, line, values);
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      values[i] = scaled<T> (q, values[i], scales[line]);
    bytes[line] = quantized<FORMAT> (values);
  }
}

/* Stores the first of SIDE bytes: at once if they are aligned. */
template <bool PACKED>
__device__ inline void
store_bytes (uint8_t *to, uint2 bytes, int64_t count)
{
  if constexpr (PACKED)
    *reinterpret_cast<uint2 *> (to) = bytes;
  else
    for (int j = 0; j < SIDE && j < count; j++)
      to[j] = (uint8_t) ((j < 4 ? bytes.x : bytes.y) >> j % 4 * 8);
}

/* Stores the bytes of a thread's lines. */
template <bool PACKED>
__device__ inline void
store_lines (const Side &side, int64_t along, const uint2 (&bytes)[SIDE])
{
  const int64_t line = side.first + first_line (), count = side.length - along;
  if (count <= 0 || line >= side.lines)
    return;
  uint8_t *to = side.copy + line * side.length + along;
#pragma unroll
  for (int i = 0; i < SIDE; i++, to += side.length)
    if (PACKED || i < side.lines - line)
      store_bytes<PACKED> (to, bytes[i], count);
}

/* Writes the values that the bytes of a thread's rows stand for. */
__device__ inline void
write_rounded (const Quantization &q,
               const Side &side,
               int64_t along,
               const float (&scales)[SIDE],
               const uint2 (&bytes)[SIDE])
{
  const int64_t line = side.first + first_line (), count = side.length - along;
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    float inverse = lig_quantize_inverse (scales[i]);
    for (int j = 0; j < SIDE && j < count && line + i < side.lines; j++)
      q.rounded.set ((line + i) * side.length + along + j,
                     number_of (q, (uint8_t) ((j < 4 ? bytes[i].x : bytes[i].y) >> j % 4 * 8)) *
                       inverse);
  }
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

/* The number of 16 bytes of SIDE elements. */
template <class T> constexpr int chunks_of = SIDE *(int) sizeof (T) / 16;

/* Returns the place of 16 bytes of a row of a tile. Those of one column in rows SIDE apart are in
 * different banks. */
template <int CHUNKS>
__device__ inline int
chunk_at (int row, int chunk)
{
  return row * ACROSS * CHUNKS + (chunk ^ row / SIDE % 8);
}

/* Returns the place of a part of the i-th row of a thread's square: of its rows, or of its columns.
 */
template <bool ROWS, class T>
__device__ inline int
part_at (int i, int chunk)
{
  return chunk_at<chunks_of<T>> (ROWS ? first_line () : first_along (),
                                 (ROWS ? first_along () : first_line ()) / SIDE * chunks_of<T> +
                                   chunk) +
         i * ACROSS * chunks_of<T>;
}

/* Reads SIDE elements of each of SIDE lines of a tile. */
template <bool ROWS, class T>
__device__ inline void
read_square (const uint4 *tile, Square<T> &square)
{
  constexpr int CHUNKS = chunks_of<T>;
  uint4 words[SIDE][CHUNKS];
#pragma unroll
  for (int c = 0; c < CHUNKS; c++)
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      words[i][c] = tile[part_at<ROWS, T> (i, c)];
  memcpy (&square, words, sizeof square);
}

/* Replaces the elements of a thread's rows by their bytes, transposed. */
template <class T>
__device__ inline void
leave_bytes (uint4 *tile, uint2 (&bytes)[SIDE])
{
  transpose_bytes (bytes);
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    *reinterpret_cast<uint2 *> (tile + part_at<true, T> (i, 0)) = bytes[i];
}

/* Reads the bytes of a thread's columns. */
template <class T>
__device__ inline void
take_bytes (const uint4 *tile, uint2 (&bytes)[SIDE])
{
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    bytes[i] = *reinterpret_cast<const uint2 *> (tile + part_at<false, T> (i, 0));
}

/* Rounds the rows or the columns of a thread. `known` is the amax of its own line, or `all` that of
 * the tile, if the scales follow from these. */
template <bool ROWS, class T>
__device__ inline void
round_side (const Quantization &q,
            const Square<T> &square,
            const Side &side,
            float tensor,
            float known,
            float all,
            float (&scales)[SIDE],
            uint2 (&bytes)[SIDE])
{
  if (side.kind == LIG_SCALES_TENSOR) {
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      scales[i] = tensor;
  } else {
    float amax = side.kind == LIG_SCALES_BLOCK ? line_amax<ROWS> (square)
                 : side.kind == LIG_SCALES_ROW ? known
                                               : all;
    find_scales (q, side, amax, scales);
  }
  if (q.narrow_exponent)
    round_lines<__NV_E4M3, ROWS> (q, square, scales, bytes);
  else
    round_lines<__NV_E5M2, ROWS> (q, square, scales, bytes);
}

/* The sums of a thread's elements by columns. */
struct ColumnSums {
  float values[SIDE];
};
template <class T>
__device__ inline ColumnSums
sums_of (const Square<T> &square)
{
  ColumnSums sums = {};
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      float first, second;
      split<T> (square.rows[i][p], first, second);
      sums.values[2 * p] += first;
      sums.values[2 * p + 1] += second;
    }
  return sums;
}

/* Returns the place of two sums, behind the bytes that take the place of a thread's rows. */
template <bool ROWS, class T>
__device__ inline float2 *
place_of_sums (uint4 *tile, int pair)
{
  return reinterpret_cast<float2 *> (tile + part_at<ROWS, T> (pair, 0)) + 1;
}

/* Leaves the sums of a thread's elements there. */
template <class T>
__device__ inline void
leave_sums (uint4 *tile, const Square<T> &square)
{
  const ColumnSums sums = sums_of (square);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    *place_of_sums<true, T> (tile, p) = make_float2 (sums.values[2 * p], sums.values[2 * p + 1]);
}

/* Returns the sums that were left for a thread's columns. */
template <class T>
__device__ inline ColumnSums
taken_sums (uint4 *tile)
{
  ColumnSums sums;
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    float2 both = *place_of_sums<false, T> (tile, p);
    sums.values[2 * p] = both.x;
    sums.values[2 * p + 1] = both.y;
  }
  return sums;
}

/* Writes the sums of a tile's columns. */
__device__ inline void
write_sums (const Quantization &q, const TilePlace &tile, ColumnSums sums)
{
  float sum = fold_lines (sums.values, Sum{});
  int64_t column = tile.first_column () + own_line ();
  if (threadIdx.x % ACROSS < SIDE && column < q.columns)
    q.sums[(int64_t) (tile.down - q.first_band) * q.columns + column] = sum;
}
} /* namespace lig */
