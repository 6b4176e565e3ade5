/* SPDX-License-Identifier: MIT */
/* Kernels that complement cuBLASLt. They support every size, type and alignment; only the
 * conversion is used often, and has a vectorized path. */
#include "kernels/cuda/matmul/fallback.cuh"

#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/matmul/algorithms.h"

#include <cuda_fp8.h>

namespace lig
{
enum { MAX_BLOCKS_Y = 65535 };

/* Returns an element of a matrix of any floating type. */
__device__ static inline float
get (const LigMatrix &matrix, int64_t row, int64_t column)
{
  return Vector{matrix.data, matrix.dtype}[row * matrix.stride + column];
}

/* Returns a value rounded to a floating type. */
__device__ static inline float
rounded (LigDtype dtype, float value)
{
  return dtype == LIG_FP32   ? value
         : dtype == LIG_FP16 ? widen (narrow<half> (value))
                             : widen (narrow<bf16> (value));
}

/* Converts rows of chunks of eight elements: a thread loads and stores one or two packs. */
template <class From, class To>
static __global__ void
__launch_bounds__ (THREADS) convert_packs (
  const From *from, int64_t from_stride, To *to, int64_t to_stride, int64_t rows, int64_t per_row)
{
  constexpr int IN = 8 / wide<From>, OUT = 8 / wide<To>;
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < rows * per_row; i += step) {
    int64_t row = i / per_row, at = (i - row * per_row) * 8;
    Pack<From> in[IN];
    Pack<To> out[OUT];
#pragma unroll
    for (int j = 0; j < IN; j++)
      in[j] = load_streaming (from + row * from_stride + at + j * wide<From>);
#pragma unroll
    for (int j = 0; j < 8; j++)
      out[j / wide<To>].v[j % wide<To>] = narrow<To> (widen (in[j / wide<From>].v[j % wide<From>]));
#pragma unroll
    for (int j = 0; j < OUT; j++)
      store_chunk (to + row * to_stride + at + j * wide<To>, out[j]);
  }
}

/* Converts rows element by element. */
template <class From, class To>
static __global__ void
__launch_bounds__ (THREADS) convert_each (
  const From *from, int64_t from_stride, To *to, int64_t to_stride, int64_t rows, int64_t columns)
{
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < rows * columns; i += step) {
    int64_t row = i / columns, at = i - row * columns;
    to[row * to_stride + at] = narrow<To> (widen (from[row * from_stride + at]));
  }
}

/* Returns whether rows are 16-byte aligned. */
static bool
has_packs (const LigMatrix &matrix)
{
  return ((uintptr_t) matrix.data & 15) == 0 && matrix.stride % 8 == 0;
}

LigStatus
convert_matrix (LigLaunch *launch, LigMatrix from, LigMatrix to, int64_t rows, int64_t columns)
{
  bool packs = columns % 8 == 0 && has_packs (from) && has_packs (to);
  return dispatch (launch, from.dtype, [=] (auto one) {
    return dispatch (launch, to.dtype, [=] (auto other) {
      using From = decltype (one);
      using To = decltype (other);
      const From *source = (const From *) from.data;
      To *target = (To *) to.data;
      if (packs)
        convert_packs<<<blocks_for (launch, rows * (columns / 8), THREADS, 32), THREADS, 0,
                        stream (launch)>>> (source, from.stride, target, to.stride, rows,
                                            columns / 8);
      else
        convert_each<<<blocks_for (launch, rows * columns, THREADS, 32), THREADS, 0,
                       stream (launch)>>> (source, from.stride, target, to.stride, rows, columns);
      return LIG_LAUNCHED (launch);
    });
  });
}

/* An operand with its two strides: element (i, l), where l runs along the depth. */
struct Strided {
  Vector values;
  int64_t along_i, along_l, size_i;
};

enum { TILE = 64, DEPTH = 16, SIDE = 4 };

/* Copies a tile of TILE by DEPTH elements to shared memory, zero-padded at the edges. Neighbouring
 * threads load neighbouring elements (coalesced), along either axis. */
__device__ static inline void
load_tile (const Strided &from, int64_t first, int64_t depth_at, int64_t depth, float *tile)
{
  for (int j = threadIdx.x; j < TILE * DEPTH; j += THREADS) {
    int i = from.along_l == 1 ? j / DEPTH : j % TILE;
    int l = from.along_l == 1 ? j % DEPTH : j / TILE;
    bool inside = first + i < from.size_i && depth_at + l < depth;
    tile[l * (TILE + 1) + i] =
      inside ? from.values[(first + i) * from.along_i + (depth_at + l) * from.along_l] : 0.0f;
  }
}

/* Computes result = factor left right. A threadblock computes a tile, each thread SIDE by SIDE
 * elements of it, accumulated along the depth in order. */
static __global__ void
__launch_bounds__ (THREADS)
  multiply (Strided left, Strided right, int64_t depth, float factor, float *result, int64_t stride)
{
  __shared__ float a[DEPTH * (TILE + 1)], b[DEPTH * (TILE + 1)];
  int64_t across = (right.size_i + TILE - 1) / TILE;
  int64_t row = blockIdx.x / across * TILE, column = blockIdx.x % across * TILE;
  int down = threadIdx.x / (TILE / SIDE) * SIDE, over = threadIdx.x % (TILE / SIDE) * SIDE;
  float sums[SIDE][SIDE] = {};
  for (int64_t at = 0; at < depth; at += DEPTH) {
    load_tile (left, row, at, depth, a);
    load_tile (right, column, at, depth, b);
    __syncthreads ();
#pragma unroll
    for (int l = 0; l < DEPTH; l++)
#pragma unroll
      for (int i = 0; i < SIDE; i++)
#pragma unroll
        for (int j = 0; j < SIDE; j++)
          sums[i][j] += a[l * (TILE + 1) + down + i] * b[l * (TILE + 1) + over + j];
    __syncthreads ();
  }
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int j = 0; j < SIDE; j++)
      if (row + down + i < left.size_i && column + over + j < right.size_i)
        result[(row + down + i) * stride + column + over + j] = factor * sums[i][j];
}

LigStatus
multiply_any (LigLaunch *launch, const LigMatmul *matmul)
{
  const LigMatrix &a = matmul->left, &b = matmul->right;
  bool ta = matmul->left_transposed, tb = matmul->right_transposed;
  Strided left = {{a.data, a.dtype}, ta ? 1 : a.stride, ta ? a.stride : 1, matmul->rows};
  Strided right = {{b.data, b.dtype}, tb ? b.stride : 1, tb ? 1 : b.stride, matmul->columns};
  int64_t tiles = ((matmul->rows + TILE - 1) / TILE) * ((matmul->columns + TILE - 1) / TILE);
  if (tiles > INT32_MAX)
    return LIG_FAIL (
      launch, LIG_UNSUPPORTED,
      "linear: a block of the matmul has too many tiles; reduce its rows or columns");
  multiply<<<(unsigned) tiles, THREADS, 0, stream (launch)>>> (
    left, right, matmul->depth, matmul->factor, (float *) matmul->result.data,
    matmul->result.stride);
  return LIG_LAUNCHED (launch);
}

/* Writes an element of a matrix of any floating type. */
__device__ static inline void
put (const LigMatrix &matrix, int64_t row, int64_t column, float value)
{
  Target{matrix.data, matrix.dtype}.set (row * matrix.stride + column, value);
}

/* Returns an element of a matmul after bias, extra and activation; writes aux for gelu. */
__device__ static inline float
finished (const Finish &finish, int64_t row, int64_t column, float value)
{
  if (finish.bias.data)
    value += finish.bias[column];
  if (finish.extra.data)
    value += get (finish.extra, row, column);
  switch (finish.activation) {
  case LIG_GELU:
    if (finish.aux.data)
      put (finish.aux, row, column, value);
    return lig_gelu (rounded (finish.aux_dtype, value));
  case LIG_RELU:
    return lig_relu (value);
  case LIG_GELU_BACKWARD:
    return lig_gelu_backward (value, get (finish.aux, row, column));
  default:
    return value;
  }
}

/* The epilogue of a staged block. Each element is read before it is written: y may share memory
 * with extra or aux. */
static __global__ void
__launch_bounds__ (THREADS) finish_each (Finish finish)
{
  int64_t column = (int64_t) blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= finish.columns)
    return;
  int64_t step = (int64_t) gridDim.y * blockDim.y;
  for (int64_t row = (int64_t) blockIdx.y * blockDim.y + threadIdx.y; row < finish.rows;
       row += step) {
    float value = finished (finish, row, column, get (finish.staged, row, column));
    if (finish.y.data)
      put (finish.y, row, column, value);
    if (finish.keeps_staged)
      put (finish.staged, row, column, rounded (finish.y.dtype, value));
  }
}

LigStatus
finish_block (LigLaunch *launch, const Finish &finish)
{
  /* For a narrow matrix a threadblock covers several rows. */
  unsigned width = 1;
  while (width < THREADS && width < finish.columns)
    width *= 2;
  unsigned height = THREADS / width;
  int64_t over = (finish.columns + width - 1) / width, down = (finish.rows + height - 1) / height;
  if (over > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "linear: a block of the matmul has too many columns; reduce them");
  dim3 grid ((unsigned) over, (unsigned) min (down, (int64_t) MAX_BLOCKS_Y));
  finish_each<<<grid, dim3 (width, height), 0, stream (launch)>>> (finish);
  return LIG_LAUNCHED (launch);
}

LigStatus
add_columns (
  LigLaunch *launch, LigMatrix staged, int64_t rows, int64_t columns, float *sums, bool accumulate)
{
  enum { THREADS_OF_COLUMN = 8 };
  return sum_parts (launch, (const float *) staged.data, rows, staged.stride, columns,
                    Target{sums, LIG_FP32}, accumulate, THREADS_OF_COLUMN);
}

template <>
__device__ inline __nv_fp8_e4m3
narrow<__nv_fp8_e4m3> (float value)
{
  return __nv_fp8_e4m3 (value);
}

/* Fills memory with normally distributed numbers, four per Philox counter. */
template <class T>
static __global__ void
__launch_bounds__ (THREADS) fill_normal (T *data, int64_t count, uint64_t seed)
{
  int64_t step = (int64_t) gridDim.x * THREADS * 4;
  for (int64_t i = ((int64_t) blockIdx.x * THREADS + threadIdx.x) * 4; i < count; i += step) {
    uint32_t words[4];
    float values[4];
    lig_random_words (seed, (uint64_t) i / 4, 0, 0, words);
    lig_normal_pair (words[0], words[1], &values[0], &values[1]);
    lig_normal_pair (words[2], words[3], &values[2], &values[3]);
    for (int j = 0; j < 4 && i + j < count; j++)
      data[i + j] = narrow<T> (values[j]);
  }
}

/* Launches fill_normal. */
template <class T>
static void
fill (void *data, int64_t count, uint64_t seed, cudaStream_t stream)
{
  int64_t blocks = (count + 4 * THREADS - 1) / (4 * THREADS);
  fill_normal<<<(unsigned) (blocks < 8192 ? blocks : 8192), THREADS, 0, stream>>> ((T *) data,
                                                                                   count, seed);
}

static __device__ inline float
widen (__nv_fp8_e4m3 value)
{
  return (float) value;
}

/* Finds the largest difference and the largest expected element. NaN on either side counts as an
 * infinite difference. The result does not depend on the order of the search, and non-negative
 * numbers are ordered like their bits. */
template <class T>
static __global__ void
__launch_bounds__ (THREADS)
  find_largest (const T *data, const T *expected, int64_t count, uint32_t *found)
{
  float difference = 0, element = 0;
  int64_t step = (int64_t) gridDim.x * THREADS;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
    float value = widen (expected[i]), apart = fabsf (widen (data[i]) - value);
    difference = apart <= FLT_MAX ? fmaxf (difference, apart) : INFINITY;
    element = fmaxf (element, fabsf (value));
  }
  fold_lanes (32, Larger{}, difference, element);
  if (threadIdx.x % 32 == 0) {
    atomicMax (&found[0], __float_as_uint (difference));
    atomicMax (&found[1], __float_as_uint (element));
  }
}

/* Launches find_largest. */
template <class T>
static void
compare (
  const void *data, const void *expected, int64_t count, uint32_t *found, cudaStream_t stream)
{
  int64_t blocks = (count + THREADS - 1) / THREADS;
  find_largest<<<(unsigned) (blocks < 2048 ? blocks : 2048), THREADS, 0, stream>>> (
    (const T *) data, (const T *) expected, count, found);
}

/* Sets *found if any bits differ. The elements have an even number of bytes. */
static __global__ void
find_other_bits (const uint16_t *data, const uint16_t *expected, size_t count, uint32_t *found)
{
  bool other = false;
  for (size_t i = blockIdx.x * (size_t) THREADS + threadIdx.x; i < count;
       i += gridDim.x * (size_t) THREADS)
    other |= data[i] != expected[i];
  if (other)
    *found = 1;
}
} /* namespace lig */

using namespace lig;

extern "C" cudaError_t
lig_cuda_fill_random (void *data, LigDtype dtype, int64_t count, uint64_t seed, cudaStream_t stream)
{
  if (count <= 0)
    return cudaSuccess;
  if (dtype == LIG_FP32)
    fill<float> (data, count, seed, stream);
  else if (dtype == LIG_FP16)
    fill<half> (data, count, seed, stream);
  else if (dtype == LIG_BF16)
    fill<bf16> (data, count, seed, stream);
  else
    fill<__nv_fp8_e4m3> (data, count, seed, stream); /* e5m2 gets small numbers, too */
  return cudaGetLastError ();
}

extern "C" cudaError_t
lig_compare (const void *data,
             const void *expected,
             LigDtype dtype,
             int64_t count,
             uint32_t found[2],
             cudaStream_t stream)
{
  if (count <= 0)
    return cudaSuccess;
  if (dtype == LIG_FP32)
    compare<float> (data, expected, count, found, stream);
  else if (dtype == LIG_FP16)
    compare<half> (data, expected, count, found, stream);
  else if (dtype == LIG_FP8_E4M3)
    compare<__nv_fp8_e4m3> (data, expected, count, found, stream);
  else
    compare<bf16> (data, expected, count, found, stream);
  return cudaGetLastError ();
}

extern "C" cudaError_t
lig_compare_bits (
  const void *data, const void *expected, size_t bytes, uint32_t *found, cudaStream_t stream)
{
  size_t count = bytes / sizeof (uint16_t), blocks = (count + THREADS - 1) / THREADS;
  if (count == 0)
    return cudaSuccess;
  find_other_bits<<<(unsigned) (blocks < 2048 ? blocks : 2048), THREADS, 0, stream>>> (
    (const uint16_t *) data, (const uint16_t *) expected, count, found);
  return cudaGetLastError ();
}
