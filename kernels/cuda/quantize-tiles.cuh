/* SPDX-License-Identifier: MIT */
/* The kernels that quantize the tiles of a source.
 *
 * A source has `Type`, the type to which its elements are rounded, TILES, the number of tiles of a
 * block, BLOCKS, as many as share a multiprocessor, STAGED, the bytes of the block's memory that it
 * needs, `stage (q, row, column, staged, last)`, which computes the elements of a thread, and
 * writes what others read in the last reading, `read (q, row, column, staged, tile, square)`, which
 * gives those of a tile, and `column_of (q, tile, column)`, the column of the matrix where that
 * begins. */
#pragma once

#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* Returns the scale of a row of a tile, or of a column of it, by its kind. */
__device__ inline float
scale_for (const Quantization &q,
           int kind,
           float tensor,
           const uint32_t *whole,
           int64_t line,
           float block,
           float tile)
{
  return kind == LIG_SCALES_TENSOR  ? tensor
         : kind == LIG_SCALES_ROW   ? (whole ? q.scale_of (__uint_as_float (whole[line])) : 1.0f)
         : kind == LIG_SCALES_BLOCK ? q.scale_of (block)
                                    : q.scale_of (tile);
}

/* Writes the inverses of a tile's scales: one of each of its lines, or one in all. `line` is the
 * first of the tile's lines, `block` the tile's number along them, `columns` their length. */
__device__ inline void
write_scales (const Quantization &q,
              float *scales,
              int kind,
              const float *own,
              int64_t line,
              int64_t lines,
              int64_t block,
              int64_t columns,
              float tile)
{
  int64_t at = line + threadIdx.x;
  if (!scales)
    return;
  if (kind == LIG_SCALES_BLOCK || (kind == LIG_SCALES_ROW && block == 0)) {
    if (threadIdx.x < EDGE && at < lines)
      scales[kind == LIG_SCALES_BLOCK ? block * lines + at : at] =
        lig_quantize_inverse (own[threadIdx.x]);
  } else if (kind == LIG_SCALES_TILE && threadIdx.x == 0) {
    scales[line / EDGE * lig_scales_stride (columns) + block] =
      lig_quantize_inverse (q.scale_of (tile));
  } else if (kind == LIG_SCALES_TENSOR && threadIdx.x == 0 && line == 0 && block == 0) {
    *scales = lig_quantize_inverse (own[0]);
  }
}

/* Finds the scales of the lines of a tile, and writes their inverses. */
__device__ inline void
find_scales (const Quantization &q, Shared &shared, int64_t first_row, int64_t first_column)
{
  const Amaxes &amaxes = shared.amaxes;
  __syncthreads ();
  if (threadIdx.x == 0 && q.recorded)
    raise (q.recorded, amaxes.all);
  if (threadIdx.x < EDGE) {
    int line = threadIdx.x;
    float tensor = q.tensor_scale ();
    int64_t at = first_row + line, across = first_column + line;
    shared.row_scales[line] = scale_for (q, q.row_kind, tensor, q.row_amaxes, at < q.rows ? at : 0,
                                         amaxes.row[line], amaxes.all);
    shared.column_scales[line] =
      scale_for (q, q.transposed_kind, tensor, q.column_amaxes, across < q.columns ? across : 0,
                 amaxes.column[line], amaxes.all);
  }
  __syncthreads ();
  int64_t band = first_row / EDGE, block = first_column / EDGE;
  write_scales (q, q.row_scale, q.row_kind, shared.row_scales, first_row, q.rows, block, q.columns,
                amaxes.all);
  write_scales (q, q.transposed_scale, q.transposed_kind, shared.column_scales, first_column,
                q.columns, band, q.rows, amaxes.all);
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

/* Writes the values that SIDE bytes stand for. */
__device__ inline void
write_rounded (const Quantization &q, uint2 bytes, float scale, int64_t at, int64_t count)
{
  float inverse = lig_quantize_inverse (scale);
  for (int j = 0; j < SIDE && j < count; j++)
    q.rounded.set (at + j,
                   number_of (q, (uint8_t) ((j < 4 ? bytes.x : bytes.y) >> j % 4 * 8)) * inverse);
}

/* Writes the tile of the copy as it is, and the values that it stands for; keeps the bytes. */
template <bool PACKED, class T>
__device__ inline void
write_rows (const Quantization &q,
            const Square<T> &square,
            const float *scales,
            int64_t row,
            int64_t column,
            uint2 (&bytes)[SIDE])
{
  int64_t at = row * q.columns + column, count = q.columns - column;
  int rows = count <= 0 ? 0 : q.rows - row < SIDE ? (int) (q.rows - row) : SIDE;
#pragma unroll
  for (int i = 0; i < SIDE; i++, at += q.columns) {
    float values[SIDE], scale = scales[threadIdx.x / ACROSS * SIDE + i];
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      split<T> (square.rows[i][p], values[2 * p], values[2 * p + 1]);
      values[2 * p] *= scale;
      values[2 * p + 1] *= scale;
    }
    bytes[i] = quantized (values, q.narrow_exponent);
    if (i < rows && q.row)
      store_side<PACKED> (q.row + at, bytes[i], count);
    if (i < rows && q.rounded.data)
      write_rounded (q, bytes[i], scale, at, count);
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

/* Rounds the columns of a thread by scales of their own. */
template <class T>
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
      first[i] *= of_first;
      second[i] *= of_second;
    }
    bytes[2 * p] = quantized (first, q.narrow_exponent);
    bytes[2 * p + 1] = quantized (second, q.narrow_exponent);
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
  int64_t column = first_column + down, row = first_row + right * SIDE;
#pragma unroll
  for (int j = 0; j < SIDE; j++)
    words[right * SIDE + j][down ^ right] = bytes[j];
  __syncthreads ();
  if (row >= q.rows)
    return;
  uint8_t *to = q.transposed + column * q.rows + row;
  int64_t step = ACROSS * q.rows, columns = q.columns - column, count = q.rows - row;
#pragma unroll
  for (int i = 0; i < SIDE; i++, to += step)
    if (i * ACROSS < columns)
      store_side<PACKED> (to, words[i * ACROSS + down][right ^ (i * ACROSS + down) / SIDE], count);
}

/* Writes the sums of a tile's columns. */
template <class T>
__device__ inline void
write_sums (const Quantization &q, const Square<T> &square, Shared &shared, int64_t first_column)
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
  q.sums[blockIdx.y * q.columns + column] = sum;
}

/* Quantizes one tile that is in registers. All threads of the block call it. */
template <bool PACKED, class T>
__device__ inline void
quantize_square (const Quantization &q,
                 const Square<T> &square,
                 Shared &shared,
                 int64_t first_row,
                 int64_t first_column)
{
  int64_t row = first_row + threadIdx.x / ACROSS * SIDE;
  int64_t column = first_column + threadIdx.x % ACROSS * SIDE;
  uint2 bytes[SIDE];
  if (q.sums) {
    write_sums (q, square, shared, first_column);
    __syncthreads ();
  }
  find_amaxes (square, q, shared);
  find_scales (q, shared, first_row, first_column);
  if (q.row || q.rounded.data || q.shares_scale)
    write_rows<PACKED> (q, square, shared.row_scales, row, column, bytes);
  if (!q.transposed)
    return;
  if (q.shares_scale)
    transpose_bytes (bytes);
  else
    round_columns (q, square, shared.column_scales + threadIdx.x % ACROSS * SIDE, bytes);
  write_columns<PACKED> (q, bytes, shared.words, first_row, first_column);
}

/* Quantizes the tiles of a source. PACKED: both copies are aligned to SIDE bytes. */
template <class S, bool PACKED>
__global__ void
__launch_bounds__ (THREADS, S::BLOCKS)
  quantize_tiles (const __grid_constant__ Quantization q, const __grid_constant__ S source)
{
  __shared__ Shared shared;
  extern __shared__ uint4 staged[];
  int64_t first_row = (q.first_band + (int64_t) blockIdx.y) * EDGE;
  int64_t first_column = (int64_t) blockIdx.x * EDGE;
  int64_t row = first_row + threadIdx.x / ACROSS * SIDE;
  int64_t column = first_column + threadIdx.x % ACROSS * SIDE;
  source.stage (q, row, column, staged, true);
#pragma unroll 1
  for (int i = 0; i < S::TILES; i++) {
    Square<typename S::Type> square;
    source.read (q, row, column, staged, i, square);
    quantize_square<PACKED> (q, square, shared, first_row, source.column_of (q, i, first_column));
    if (i + 1 < S::TILES)
      __syncthreads ();
  }
}

/* Finds the amaxes of whole rows, of whole columns, and of all elements. */
template <class S>
__global__ void
__launch_bounds__ (THREADS, S::BLOCKS) find_lines (const __grid_constant__ Quantization q,
                                                   const __grid_constant__ S source,
                                                   const __grid_constant__ Lines to)
{
  __shared__ Shared shared;
  extern __shared__ uint4 staged[];
  int line = threadIdx.x;
  int64_t first_row = (q.first_band + (int64_t) blockIdx.y) * EDGE;
  int64_t first_column = (int64_t) blockIdx.x * EDGE;
  int64_t row = first_row + line / ACROSS * SIDE, column = first_column + line % ACROSS * SIDE;
  source.stage (q, row, column, staged, false);
#pragma unroll 1
  for (int i = 0; i < S::TILES; i++) {
    Square<typename S::Type> square;
    int64_t first = source.column_of (q, i, first_column);
    source.read (q, row, column, staged, i, square);
    find_amaxes (square, q, shared);
    __syncthreads ();
    if (to.of_all && line == 0)
      raise (to.of_all, shared.amaxes.all);
    if (to.of_rows && line < EDGE && first_row + line < q.rows)
      raise (to.of_rows + first_row + line, shared.amaxes.row[line]);
    if (to.of_columns && line < EDGE && first + line < q.columns)
      raise (to.of_columns + first + line, shared.amaxes.column[line]);
    __syncthreads ();
  }
}

/* Returns whether the copies are aligned, so that SIDE bytes can be stored at once. */
inline bool
copies_pack (const Quantization &q)
{
  return q.columns % 16 == 0 && q.rows % 16 == 0 && ((uintptr_t) q.row & 15) == 0 &&
         ((uintptr_t) q.transposed & 15) == 0;
}

/* Quantizes the matrix [q.rows, q.columns] of a source; with `lines` it reads that twice. dbias, if
 * it is present, gets the sum of the rows. */
template <bool PACKED, class S>
LigStatus
quantize_from (
  LigLaunch *launch, Quantization q, const Lines &lines, const S &source, const LigOperand *dbias)
{
  int64_t across = (q.columns / S::TILES + EDGE - 1) / EDGE, bands = (q.rows + EDGE - 1) / EDGE;
  LigStatus status = LIG_OK;
  cudaFuncSetAttribute (find_lines<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::STAGED);
  cudaFuncSetAttribute (quantize_tiles<S, PACKED>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                        S::STAGED);
  for (int reading = lines.of_rows || lines.of_columns || lines.of_all ? 0 : 1; reading < 2;
       reading++)
    for (int64_t band = 0; band < bands && status == LIG_OK; band += q.bands) {
      int count = (int) (bands - band < q.bands ? bands - band : q.bands);
      dim3 tiles ((unsigned) across, (unsigned) count);
      Quantization part = q;
      part.first_band = (int) band;
      if (reading == 0) {
        part.finds_rows = lines.of_rows;
        part.finds_columns = lines.of_columns;
        part.finds_all = lines.of_all;
        find_lines<S><<<tiles, THREADS, S::STAGED, stream (launch)>>> (part, source, lines);
      } else {
        quantize_tiles<S, PACKED><<<tiles, THREADS, S::STAGED, stream (launch)>>> (part, source);
      }
      status = LIG_LAUNCHED (launch);
      if (reading == 1 && q.sums && status == LIG_OK)
        status = sum_parts (launch, q.sums, count, q.columns, q.columns, target (dbias),
                            band > 0 || launch->accumulate, threads_for (count));
    }
  return status;
}
} /* namespace lig */
