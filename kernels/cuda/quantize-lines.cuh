/* SPDX-License-Identifier: MIT */
/* The rows and the columns of a tile of 128 by 128 elements in shared memory. Sixteen neighbouring
 * lanes share eight lines, which are rows or columns, and each has eight elements of every line:
 * they find the lines' scales, round their elements, and write them as rows of a copy. */
#pragma once

#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* The rows or the columns of a tile: the copy that has them as its rows, the kind and the
 * destination of their scales, the amaxes of the whole lines, the index of the first line, the
 * tile's index along the lines, and the number and length of the lines. */
struct Side {
  int kind;
  uint8_t *copy;
  float *scales;
  const uint32_t *amaxes;
  int64_t first, block, lines, length;
};

/* Returns the first of a thread's SIDE lines of a tile, and the first of its SIDE elements of
 * these. */
__device__ inline int
first_line ()
{
  return (int) threadIdx.x % THREADS / ACROSS * SIDE;
}
__device__ inline int
first_along ()
{
  return (int) threadIdx.x % ACROSS * SIDE;
}

/* A threadblock that processes tiles: if it is the only one on its SM, it has twice as many
 * threads, the first half for the rows and the second for the columns; else each thread processes
 * both. */
template <int BLOCKS> struct TileBlock {
  static constexpr int EACH = 2 * THREADS / BLOCKS, N_WARPS = EACH / 32;
  /* The rows that a thread computes, SIDE elements of each. */
  static constexpr int COMPUTED = EDGE * ACROSS / EACH;
  __device__ static int
  first_computed ()
  {
    return (int) threadIdx.x / ACROSS * COMPUTED;
  }
  __device__ static bool
  takes_rows ()
  {
    return BLOCKS > 1 || threadIdx.x < THREADS;
  }
  __device__ static bool
  takes_columns ()
  {
    return BLOCKS > 1 || threadIdx.x >= THREADS;
  }
};

/* The coordinates of a tile, in tiles, and of its first element. */
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

/* Returns a tile of a launch by its index. */
__device__ inline TilePlace
tile_at (const Quantization &q, int number)
{
  int down = number / q.across;
  return {q.first_band + down, number - down * q.across};
}

/* The line whose scale a thread computes; each line is assigned to two threads. */
__device__ inline int
own_line ()
{
  return first_line () + (int) threadIdx.x % SIDE;
}

/* Returns the amax of the whole row or column whose scale a thread computes; 0 if none was
 * found. */
template <bool ROWS>
__device__ inline float
known_amax (const Quantization &q, const Side &side)
{
  const int64_t line = side.first + own_line ();
  if (!side.amaxes || line >= side.lines)
    return 0;
  return __uint_as_float (side.amaxes[ROWS ? q.amax_at (line) : line]);
}

/* Returns the value for the thread's own line, combined from the threads' values for their elements
 * of it. */
template <class F>
__device__ inline float
fold_lines (float (&values)[SIDE], F f)
{
  share_folded (values, 1, f);
  fold_pair (SIDE, f, values[0]);
  return values[0];
}

/* Returns the elementwise maxima of two pairs that are given as words. */
template <class T> struct GreaterOfWords {
  __device__ uint32_t
  operator() (uint32_t a, uint32_t b) const
  {
    return greater<T> (Pair<T>{a}, Pair<T>{b}).bits;
  }
};

/* Returns the amax of the thread's own line from the threads' amaxes of SIDE lines, packed two to a
 * word. */
template <class T>
__device__ inline float
fold_pairs (uint32_t (&lines)[PAIRS])
{
  const GreaterOfWords<T> f;
  float first, second;
  share_folded (lines, 2, f);
  fold_pair (1, f, lines[0]);
  fold_pair (SIDE, f, lines[0]);
  split<T> (Pair<T>{lines[0]}, first, second);
  return threadIdx.x % 2 ? second : first;
}

/* Returns the elementwise maxima of two pairs of pairs. */
template <class T>
__device__ inline Pair<T>
greater_of_each (Pair<T> a, Pair<T> b)
{
  return greater<T> (Pair<T>{__byte_perm (a.bits, b.bits, 0x5410)},
                     Pair<T>{__byte_perm (a.bits, b.bits, 0x7632)});
}

/* Returns the amax of the thread's own line within the tile. */
template <bool ROWS, class T>
__device__ inline float
line_amax (const Square<T> &square)
{
  Extremes<T> extremes[SIDE] = {};
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      extremes[ROWS ? i : p].raise_to (square.rows[i][p]);
  if constexpr (std::is_same_v<T, float>) {
    float max[SIDE];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
      const Pair<T> amax = extremes[ROWS ? i : i / 2].amax ();
      max[i] = ROWS ? fmaxf (amax.first, amax.second) : i % 2 ? amax.second : amax.first;
    }
    return fold_lines (max, Larger{});
  } else {
    uint32_t lines[PAIRS];
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      lines[p] = (ROWS ? greater_of_each<T> (extremes[2 * p].amax (), extremes[2 * p + 1].amax ())
                       : extremes[p].amax ())
                   .bits;
    return fold_pairs<T> (lines);
  }
}

/* Writes the inverse scale of the thread's own line: one per line, or one in all. */
__device__ inline void
write_scale (const Side &side, float scale)
{
  int64_t at = side.first + own_line ();
  bool tile = side.kind == LIG_SCALES_TILE, block = side.kind == LIG_SCALES_BLOCK;
  if (!side.scales || threadIdx.x % ACROSS >= SIDE)
    return;
  if (tile ? threadIdx.x % THREADS == 0 : at < side.lines && (block || side.block == 0))
    side.scales[tile    ? side.first / EDGE * lig_scales_stride (side.length) + side.block
                : block ? side.block * side.lines + at
                        : at] = lig_quantize_inverse (scale);
}

/* Computes the scales of a thread's lines from the amaxes of the threads' own lines, and writes
 * their inverses. */
__device__ inline void
find_scales (const Quantization &q, const Side &side, float amax, float (&scales)[SIDE])
{
  float scale = q.scale_of (amax);
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    scales[i] = __shfl_sync (0xffffffffu, scale, i, ACROSS);
  write_scale (side, scale);
}

/* Sets the elements of a line of a thread. */
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
#pragma unroll 1
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

/* Writes the dequantized values of a thread's rows, which is rarely needed: in a short loop. */
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
#pragma unroll 1
    for (int j = 0; j < SIDE && j < count && line + i < side.lines; j++)
      q.rounded.set ((line + i) * side.length + along + j,
                     number_of (q, (uint8_t) ((j < 4 ? bytes[i].x : bytes[i].y) >> j % 4 * 8)) *
                       inverse);
  }
}

/* The number of 16-byte vectors in SIDE elements. */
template <class T> constexpr int chunks_of = SIDE *(int) sizeof (T) / 16;

/* Returns the offset of a 16-byte vector of a row of a tile. Those of one column in rows SIDE apart
 * are in different banks. */
template <int CHUNKS>
__device__ inline int
chunk_at (int row, int chunk)
{
  return row * ACROSS * CHUNKS + (chunk ^ row / SIDE % 8);
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

/* Loads SIDE elements of each of SIDE lines of a tile. */
template <bool ROWS, class T>
__device__ inline void
read_square (const uint4 *tile, Square<T> &square)
{
  constexpr int CHUNKS = chunks_of<T>;
  const int row = ROWS ? first_line () : first_along ();
  const int chunk = (ROWS ? first_along () : first_line ()) / SIDE * CHUNKS;
  uint4 words[SIDE][CHUNKS];
#pragma unroll
  for (int c = 0; c < CHUNKS; c++)
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      words[i][c] = tile[chunk_at<CHUNKS> (row, chunk + c) + i * ACROSS * CHUNKS];
  memcpy (&square, words, sizeof square);
}

/* Rounds the rows or the columns of a thread. `known` is the amax of its own line, or `all` that of
 * the tile, if the scales are computed from these. */
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

/* Writes the sums of a tile's columns. */
template <class T>
__device__ inline void
write_sums (const Quantization &q, const TilePlace &tile, const Square<T> &square)
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
  float sum = fold_lines (sums, Sum{});
  int64_t column = tile.first_column () + own_line ();
  if (threadIdx.x % ACROSS < SIDE && column < q.columns)
    q.sums[(int64_t) (tile.down - q.first_band) * q.columns + column] = sum;
}
} /* namespace lig */
