/* SPDX-License-Identifier: MIT */
/* Quantized copies of a matrix x [M, K] with their scales; kernels/cpu/quantize.c defines the
 * bytes. A block reads one tile of 128 by 128 elements into registers, 8 by 8 for each thread, and
 * writes both copies from there, the transposed one by way of shared memory. Lower bound: x is read
 * once, and each copy written once. Scales of whole rows, which follow from all tiles of a row,
 * take one more reading before. */
#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/quantize.h"

#include <cuda_fp8.h>

namespace lig
{
enum { EDGE = LIG_SCALES_EDGE, SIDE = 8, ACROSS = EDGE / SIDE }; /* a thread has SIDE x SIDE */

/* A launch: absent operands are null. */
struct Quantization {
  const void *x;
  LigDtype source;
  int64_t rows, columns;
  const float *scale, *amax;                  /* of the whole tensor, or its amax */
  const uint32_t *row_amaxes, *column_amaxes; /* bits of the amaxes of whole rows and columns */
  uint8_t *row, *transposed;
  float *row_scale, *transposed_scale;
  uint32_t *recorded;
  Target y;
  int row_kind, transposed_kind;
  float largest, overflow;
  bool powers, narrow_exponent; /* e4m3; else e5m2 */
  __device__ float
  scale_of (float amax) const
  {
    return lig_quantize_scale (amax, largest, overflow, powers);
  }
  __device__ float
  tensor_scale () const
  {
    return scale ? *scale : amax ? scale_of (*amax) : 1.0f;
  }
};

/* Rounds a number to the format: NaN keeps the sign that it has in x. */
__device__ inline uint8_t
quantized (const Quantization &q, float x, float scale)
{
  if (isnan (x))
    return signbit (x) ? 0xff : 0x7f;
  return (uint8_t) __nv_cvt_float_to_fp8 (x * scale, __NV_SATFINITE,
                                          q.narrow_exponent ? __NV_E4M3 : __NV_E5M2);
}

/* Returns the number that a byte stands for. */
__device__ inline float
number_of (const Quantization &q, uint8_t byte)
{
  return widen (half (__nv_cvt_fp8_to_halfraw (byte, q.narrow_exponent ? __NV_E4M3 : __NV_E5M2)));
}

/* Reads SIDE elements of a row; those beyond the matrix are zero. */
template <class T, bool PACKED>
__device__ inline void
read_side (const T *x, int64_t row, int64_t column, int64_t rows, int64_t columns, float *values)
{
#pragma unroll
  for (int j = 0; j < SIDE; j++)
    values[j] = 0;
  if (row >= rows || column >= columns)
    return;
  const T *from = x + row * columns + column;
  if constexpr (PACKED) {
    constexpr int W = wide<T>;
#pragma unroll
    for (int part = 0; part < SIDE / W; part++) {
      Pack<T> chunk = *reinterpret_cast<const Pack<T> *> (from + part * W);
#pragma unroll
      for (int j = 0; j < W; j++)
        values[part * W + j] = widen (chunk.v[j]);
    }
  } else {
    for (int j = 0; j < SIDE && column + j < columns; j++)
      values[j] = widen (from[j]);
  }
}

/* Reads the SIDE rows of a thread. */
template <class T, bool PACKED>
__device__ inline void
read_square (const T *x,
             int64_t row,
             int64_t column,
             int64_t rows,
             int64_t columns,
             float (&values)[SIDE][SIDE])
{
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    read_side<T, PACKED> (x, row + i, column, rows, columns, values[i]);
}

/* Returns the greatest of the numbers of ACROSS neighbouring threads. */
__device__ inline float
across (float value)
{
  fold_lanes (
    ACROSS, [] (float a, float b) { return fmaxf (a, b); }, value);
  return value;
}

/* The amaxes of a tile. */
struct Amaxes {
  float row[EDGE], column[EDGE], all;
};

/* Finds the amaxes of the tile whose elements the threads of a block have. */
__device__ inline void
find_amaxes (const float (&values)[SIDE][SIDE], Amaxes &amaxes, float (*columns)[EDGE])
{
  int down = threadIdx.x / ACROSS, right = threadIdx.x % ACROSS;
  float own[SIDE] = {}, most = 0;
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    float row = 0;
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
      row = lig_quantize_amax (row, values[i][j]);
      own[j] = lig_quantize_amax (own[j], values[i][j]);
    }
    row = across (row);
    most = fmaxf (most, row);
    if (right == 0)
      amaxes.row[down * SIDE + i] = row;
  }
#pragma unroll
  for (int j = 0; j < SIDE; j++)
    columns[down][right * SIDE + j] = own[j];
  __syncthreads ();
  if (threadIdx.x < EDGE) {
    float column = 0;
    for (int i = 0; i < ACROSS; i++)
      column = fmaxf (column, columns[i][threadIdx.x]);
    amaxes.column[threadIdx.x] = column;
  }
  __syncthreads ();
  if (threadIdx.x < 32) {
    float all = 0;
    for (int i = threadIdx.x; i < EDGE; i += 32)
      all = fmaxf (all, amaxes.row[i]);
    all = __uint_as_float (__reduce_max_sync (0xffffffffu, __float_as_uint (all)));
    if (threadIdx.x == 0)
      amaxes.all = all;
  }
  __syncthreads ();
}

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
         : kind == LIG_SCALES_ROW   ? q.scale_of (__uint_as_float (whole[line]))
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

/* Stores SIDE bytes: at once if they are aligned. */
template <bool PACKED>
__device__ inline void
store_side (uint8_t *to, const uint8_t (&bytes)[SIDE], int64_t count)
{
  if constexpr (PACKED)
    *reinterpret_cast<uint2 *> (to) = *reinterpret_cast<const uint2 *> (bytes);
  else
    for (int j = 0; j < SIDE && j < count; j++)
      to[j] = bytes[j];
}

/* Writes the tile of the copy as it is, and its values for y. */
template <bool PACKED>
__device__ inline void
write_rows (const Quantization &q,
            const float (&values)[SIDE][SIDE],
            const float *scales,
            int64_t row,
            int64_t column)
{
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    alignas (8) uint8_t bytes[SIDE];
    int64_t at = (row + i) * q.columns + column;
    if (row + i >= q.rows || column >= q.columns)
      break;
    float scale = scales[(int) (row + i) % EDGE];
#pragma unroll
    for (int j = 0; j < SIDE; j++)
      bytes[j] = quantized (q, values[i][j], scale);
    if (q.row)
      store_side<PACKED> (q.row + at, bytes, q.columns - column);
    if (q.y.data) {
      float inverse = lig_quantize_inverse (scale);
      for (int j = 0; j < SIDE && column + j < q.columns; j++)
        q.y.set (at + j, number_of (q, bytes[j]) * inverse);
    }
  }
}

/* Writes the tile of the transposed copy. Words of SIDE bytes lie in shared memory in an order in
 * which neither the writes down nor the reads across meet the same bank. */
template <bool PACKED>
__device__ inline void
write_columns (const Quantization &q,
               const float (&values)[SIDE][SIDE],
               const float *scales,
               uint2 (*words)[ACROSS],
               int64_t first_row,
               int64_t first_column)
{
  int down = threadIdx.x / ACROSS, right = threadIdx.x % ACROSS;
#pragma unroll
  for (int j = 0; j < SIDE; j++) {
    alignas (8) uint8_t bytes[SIDE];
    float scale = scales[right * SIDE + j];
#pragma unroll
    for (int i = 0; i < SIDE; i++)
      bytes[i] = quantized (q, values[i][j], scale);
    words[right * SIDE + j][down ^ right] = *reinterpret_cast<const uint2 *> (bytes);
  }
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < SIDE; i++) {
    int column = i * ACROSS + down, word = right;
    int64_t row = first_row + word * SIDE;
    alignas (8) uint8_t bytes[SIDE];
    *reinterpret_cast<uint2 *> (bytes) = words[column][word ^ (column / SIDE)];
    if (first_column + column < q.columns && row < q.rows)
      store_side<PACKED> (q.transposed + (first_column + column) * q.rows + row, bytes,
                          q.rows - row);
  }
}

/* Quantizes one tile. */
template <class T, bool PACKED>
__global__ void
__launch_bounds__ (THREADS, 2) quantize_tile (const __grid_constant__ Quantization q)
{
  __shared__ Amaxes amaxes;
  __shared__ float columns[ACROSS][EDGE], row_scales[EDGE], column_scales[EDGE];
  __shared__ uint2 words[EDGE][ACROSS];
  float values[SIDE][SIDE];
  int64_t first_row = (int64_t) blockIdx.y * EDGE, first_column = (int64_t) blockIdx.x * EDGE;
  int64_t row = first_row + threadIdx.x / ACROSS * SIDE;
  int64_t column = first_column + threadIdx.x % ACROSS * SIDE;
  read_square<T, PACKED> ((const T *) q.x, row, column, q.rows, q.columns, values);
  find_amaxes (values, amaxes, columns);
  if (threadIdx.x == 0 && q.recorded)
    atomicMax (q.recorded, __float_as_uint (amaxes.all));
  if (threadIdx.x < EDGE) {
    int line = threadIdx.x;
    float tensor = q.tensor_scale ();
    int64_t at = first_row + line, across = first_column + line;
    row_scales[line] = scale_for (q, q.row_kind, tensor, q.row_amaxes, at < q.rows ? at : 0,
                                  amaxes.row[line], amaxes.all);
    column_scales[line] =
      scale_for (q, q.transposed_kind, tensor, q.column_amaxes, across < q.columns ? across : 0,
                 amaxes.column[line], amaxes.all);
  }
  __syncthreads ();
  write_scales (q, q.row_scale, q.row_kind, row_scales, first_row, q.rows, blockIdx.x, q.columns,
                amaxes.all);
  write_scales (q, q.transposed_scale, q.transposed_kind, column_scales, first_column, q.columns,
                blockIdx.y, q.rows, amaxes.all);
  if (q.row || q.y.data)
    write_rows<PACKED> (q, values, row_scales, row, column);
  if (q.transposed)
    write_columns<PACKED> (q, values, column_scales, words, first_row, first_column);
}

/* Finds the amaxes of whole rows and columns, as bits, which order as numbers do. */
template <class T, bool PACKED>
__global__ void
__launch_bounds__ (THREADS, 2)
  find_lines (const T *x, int64_t rows, int64_t columns, uint32_t *of_rows, uint32_t *of_columns)
{
  __shared__ Amaxes amaxes;
  __shared__ float shared[ACROSS][EDGE];
  float values[SIDE][SIDE];
  int64_t first_row = (int64_t) blockIdx.y * EDGE, first_column = (int64_t) blockIdx.x * EDGE;
  read_square<T, PACKED> (x, first_row + threadIdx.x / ACROSS * SIDE,
                          first_column + threadIdx.x % ACROSS * SIDE, rows, columns, values);
  find_amaxes (values, amaxes, shared);
  int line = threadIdx.x;
  if (of_rows && line < EDGE && first_row + line < rows)
    atomicMax (of_rows + first_row + line, __float_as_uint (amaxes.row[line]));
  if (of_columns && line < EDGE && first_column + line < columns)
    atomicMax (of_columns + first_column + line, __float_as_uint (amaxes.column[line]));
}

/* Adds the magnitudes of a part of x to its amax. */
template <class T, bool PACKED>
__global__ void
__launch_bounds__ (THREADS) find_amax (const T *x, int64_t size, uint32_t *amax)
{
  constexpr int N = PACKED ? wide<T> : 1;
  float most = 0;
  int64_t step = (int64_t) gridDim.x * THREADS,
          first = (int64_t) blockIdx.x * THREADS + threadIdx.x;
#pragma unroll 4
  for (int64_t at = first; at < size / N; at += step) {
    Chunk<T, N> chunk = *reinterpret_cast<const Chunk<T, N> *> (x + at * N);
#pragma unroll
    for (int i = 0; i < N; i++)
      most = lig_quantize_amax (most, widen (chunk.v[i]));
  }
  for (int64_t at = size / N * N + first; at < size; at += step)
    most = lig_quantize_amax (most, widen (x[at]));
  uint32_t bits = __reduce_max_sync (0xffffffffu, __float_as_uint (most));
  if (threadIdx.x % 32 == 0 && bits > 0)
    atomicMax (amax, bits);
}

/* Moves the histories by one step: a block for each quantizer, which only one thread updates, as a
 * history is short in comparison to anything else in a step. */
__global__ void
move_histories (float *quantizers, int64_t count, int64_t columns, LigHistoryParams params)
{
  int64_t i = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    lig_quantizer_update (quantizers + i * columns, columns - 2,
                          lig_quantize_largest ((LigDtype) params.formats[i % 3]), params.margin,
                          params.most_recent);
}

/* Clears memory; null is left. */
static void
clear (const LigLaunch *launch, void *memory, size_t bytes)
{
  if (memory)
    cudaMemsetAsync (memory, 0, bytes, stream (launch));
}

/* Returns the operands of a launch. */
static Quantization
read_launch (const LigLaunch *launch)
{
  const LigOperand *operands = launch->operands;
  const LigQuantizeParams *params = (const LigQuantizeParams *) launch->params;
  Quantization q = {};
  q.x = operands[0].data;
  q.source = operands[0].dtype;
  q.rows = rows (&operands[0]);
  q.columns = operands[0].columns;
  q.scale = (const float *) operands[1].data;
  q.amax = (const float *) operands[2].data;
  q.row = (uint8_t *) operands[3].data;
  q.row_scale = (float *) operands[4].data;
  q.transposed = (uint8_t *) operands[5].data;
  q.transposed_scale = (float *) operands[6].data;
  q.recorded = (uint32_t *) operands[7].data;
  q.y = target (&operands[8]);
  q.row_kind = params->row;
  q.transposed_kind = params->transposed;
  q.largest = lig_quantize_largest ((LigDtype) params->format);
  q.overflow = lig_quantize_overflow (operands[0].dtype);
  q.powers = params->powers;
  q.narrow_exponent = params->format == LIG_FP8_E4M3;
  return q;
}

/* Returns whether a scale of the whole tensor is needed, but neither given nor to be computed. */
static bool
lacks_scale (const Quantization &q)
{
  bool row = q.row_kind == LIG_SCALES_TENSOR && (q.row || q.y.data);
  bool transposed = q.transposed_kind == LIG_SCALES_TENSOR && q.transposed;
  return (row || transposed) && !q.scale && !q.amax;
}
} /* namespace lig */

using namespace lig;

/* Computes the largest magnitude of x. */
extern "C" LigStatus
lig_cuda_amax (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *amax = &launch->operands[1];
  clear (launch, amax->data, sizeof (float));
  return dispatch (launch, x->dtype, [&] (auto zero) {
    using T = decltype (zero);
    auto *kernel = aligned (x) ? find_amax<T, true> : find_amax<T, false>;
    int blocks = blocks_for (launch, x->size / wide<T> / 4 + 1, THREADS, 8);
    kernel<<<blocks, THREADS, 0, stream (launch)>>> ((const T *) x->data, x->size,
                                                     (uint32_t *) amax->data);
    return LIG_LAUNCHED (launch);
  });
}

/* Writes the quantized copies of x and their scales. */
extern "C" LigStatus
lig_cuda_quantize (LigLaunch *launch)
{
  Quantization q = read_launch (launch);
  bool row_lines = q.row_kind == LIG_SCALES_ROW && (q.row || q.y.data);
  bool column_lines = q.transposed_kind == LIG_SCALES_ROW && q.transposed;
  if (lacks_scale (q))
    return LIG_FAIL (launch, LIG_FAILED, "quantize: no scale; bind scale or amax");
  if ((size_t) (q.rows + q.columns) * sizeof (float) > LIG_WORKSPACE_SIZE ||
      (q.rows + EDGE - 1) / EDGE > 65535)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: too many rows or columns; reduce them");
  uint32_t *of_rows = row_lines ? (uint32_t *) launch->workspace : nullptr;
  uint32_t *of_columns = column_lines ? (uint32_t *) launch->workspace + q.rows : nullptr;
  q.row_amaxes = of_rows;
  q.column_amaxes = of_columns;
  bool packed = q.columns % 16 == 0 && q.rows % 8 == 0 && all_aligned (launch, 9);
  dim3 tiles ((unsigned) ((q.columns + EDGE - 1) / EDGE), (unsigned) ((q.rows + EDGE - 1) / EDGE));
  clear (launch, of_rows, (size_t) q.rows * sizeof (float));
  clear (launch, of_columns, (size_t) q.columns * sizeof (float));
  if (q.row_kind == LIG_SCALES_TILE)
    clear (launch, q.row_scale, (size_t) launch->operands[4].size * sizeof (float));
  if (q.transposed_kind == LIG_SCALES_TILE)
    clear (launch, q.transposed_scale, (size_t) launch->operands[6].size * sizeof (float));
  return dispatch (launch, q.source, [&] (auto zero) {
    using T = decltype (zero);
    auto *lines = packed ? find_lines<T, true> : find_lines<T, false>;
    auto *kernel = packed ? quantize_tile<T, true> : quantize_tile<T, false>;
    if (of_rows || of_columns)
      lines<<<tiles, THREADS, 0, stream (launch)>>> ((const T *) q.x, q.rows, q.columns, of_rows,
                                                     of_columns);
    kernel<<<tiles, THREADS, 0, stream (launch)>>> (q);
    return LIG_LAUNCHED (launch);
  });
}

/* Moves all histories by one step, and sets the scales for the next. */
extern "C" LigStatus
lig_cuda_update_scales (LigLaunch *launch)
{
  const LigOperand *quantizers = &launch->operands[0];
  int64_t count = rows (quantizers);
  int blocks = (int) ((count + 31) / 32);
  move_histories<<<blocks, 32, 0, stream (launch)>>> ((float *) quantizers->data, count,
                                                      quantizers->columns,
                                                      *(const LigHistoryParams *) launch->params);
  return LIG_LAUNCHED (launch);
}
