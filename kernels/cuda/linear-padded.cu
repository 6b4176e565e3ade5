/* SPDX-License-Identifier: MIT */
/* Matmuls of matrices whose rows are not 16-byte aligned, for example because the number of columns
 * is odd. The library's kernels for them take several times as long as aligned copies of these
 * matrices plus its fast kernels. Lower bound: the matmul, plus reading and writing the matrix
 * once. */
#include "kernels/cuda/linear.cuh"
#include "kernels/cuda/matmul/blocks.cuh"
#include "kernels/cuda/matmul/sums.cuh"
#include "kernels/demands.h"

namespace lig
{
/* The number of vectors that a thread of a copy has in flight. */
enum { UNITS = 4 };

/* Returns 16 of 32 bytes, from an even offset below 16 on. */
__device__ inline uint4
bytes_from (uint4 a, uint4 b, int byte)
{
  uint32_t words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  if (byte & 8)
#pragma unroll
    for (int i = 0; i < 6; i++)
      words[i] = words[i + 2];
  if (byte & 4)
#pragma unroll
    for (int i = 0; i < 5; i++)
      words[i] = words[i + 1];
  int bits = byte % 4 * 8;
  return make_uint4 (
    __funnelshift_r (words[0], words[1], bits), __funnelshift_r (words[1], words[2], bits),
    __funnelshift_r (words[2], words[3], bits), __funnelshift_r (words[3], words[4], bits));
}

/* Rows of `bytes` bytes, and the largest number of aligned 16-byte vectors that a row spans. */
struct RowCopy {
  char *to;
  const char *from;
  int64_t to_stride, from_stride, bytes;
  uint32_t units, total;
};

/* A vector of a row: its place in the target, and its byte offset in the row. */
struct Unit {
  char *to;
  const char *from;
  int64_t byte;
  bool whole, any;
};

__device__ inline Unit
unit_of (const RowCopy &rows, uint32_t number)
{
  uint32_t row = number / rows.units;
  char *to = rows.to + row * rows.to_stride;
  int64_t byte = (int64_t) (number % rows.units) * 16 - (int64_t) ((uintptr_t) to % 16);
  bool any = number < rows.total && byte < rows.bytes && byte > -16;
  return Unit{to + byte, rows.from + row * rows.from_stride + byte, byte,
              any && byte >= 0 && byte + 16 <= rows.bytes, any};
}

/* Copies rows of 16-bit elements with any alignment. Every 16-byte vector that is read contains
 * some bytes that are needed. Lower bound: each byte is read and written once. */
__global__ static void
__launch_bounds__ (THREADS) copy_rows (const __grid_constant__ RowCopy rows)
{
  uint32_t step = gridDim.x * THREADS;
  for (uint32_t first = blockIdx.x * THREADS + threadIdx.x; first < rows.total;
       first += UNITS * step) {
    uint4 values[UNITS];
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
      Unit unit = unit_of (rows, first + i * step);
      int byte = (int) ((uintptr_t) unit.from % 16);
      const uint4 *from = (const uint4 *) (unit.from - byte);
      if (unit.whole)
        values[i] = bytes_from (__ldcs (from), byte ? __ldcs (from + 1) : uint4{}, byte);
    }
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
      Unit unit = unit_of (rows, first + i * step);
      if (unit.whole)
        *(uint4 *) unit.to = values[i];
      else
        for (int byte = 0; byte < 16 && unit.any; byte += 2)
          if (unit.byte + byte >= 0 && unit.byte + byte < rows.bytes)
            *(uint16_t *) (unit.to + byte) = *(const uint16_t *) (unit.from + byte);
    }
  }
}

/* Copies a matrix [rows, columns] of a 16-bit type. */
static LigStatus
copy_matrix (LigLaunch *launch, LigMatrix from, LigMatrix to, int64_t rows, int64_t columns)
{
  int64_t bytes = columns * 2, units = bytes / 16 + 2;
  RowCopy all = {(char *) to.data, (const char *) from.data, to.stride * 2, from.stride * 2, bytes,
                 (uint32_t) units, (uint32_t) (rows * units)};
  copy_rows<<<blocks_for (launch, rows * units / UNITS, THREADS, 32), THREADS, 0,
              stream (launch)>>> (all);
  return LIG_LAUNCHED (launch);
}

/* Computes blocks of rows of the result, and copies them to their place. */
static LigStatus
write_padded (LigLaunch *launch, const LigMatmul &job, void *scratch)
{
  const LigDtype dtype = job.result.dtype;
  int64_t height = lig_padded_rows (job.rows, job.columns, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (job.columns, dtype), dtype};
  for (int64_t row = 0; row < job.rows; row += height) {
    LigMatmul block = rows_of (job, row, min (height, job.rows - row));
    LigMatrix result = block.result;
    block.result = copy;
    LigStatus status = multiply (launch, block);
    if (status == LIG_OK)
      status = copy_matrix (launch, copy, result, block.rows, block.columns);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* Copies blocks of rows of the left operand, and computes the corresponding rows of the result. */
static LigStatus
read_padded (LigLaunch *launch, const LigMatmul &job, void *scratch)
{
  const LigDtype dtype = job.left.dtype;
  int64_t height = lig_padded_rows (job.rows, job.depth, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (job.depth, dtype), dtype};
  for (int64_t row = 0; row < job.rows; row += height) {
    LigMatmul block = rows_of (job, row, min (height, job.rows - row));
    LigStatus status = copy_matrix (launch, block.left, copy, block.rows, block.depth);
    block.left = copy;
    if (status == LIG_OK)
      status = multiply (launch, block);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* The same for a transposed left operand: copies blocks of its columns, so that no sum over its
 * rows is rounded in between. */
static LigStatus
read_transposed_padded (LigLaunch *launch, const LigMatmul &job, void *scratch)
{
  const LigDtype dtype = job.left.dtype;
  int64_t width = lig_padded_columns (job.depth, job.rows, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (width, dtype), dtype};
  for (int64_t column = 0; column < job.rows; column += width) {
    LigMatmul block = rows_of (job, column, min (width, job.rows - column));
    LigStatus status = copy_matrix (launch, block.left, copy, block.depth, block.rows);
    block.left = copy;
    if (status == LIG_OK)
      status = multiply (launch, block);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

LigStatus
multiply_padded (LigLaunch *launch, const LigMatmul &job)
{
  LigLaunch inner = *launch;
  LigMatmul bare = without_sums (job);
  LigStatus status = LIG_OK;
  inner.scratch = nullptr;
  if (job.left_transposed)
    status = read_transposed_padded (&inner, bare, launch->scratch);
  else if (job.right_transposed && job.result.dtype == job.left.dtype)
    status = write_padded (&inner, bare, launch->scratch);
  else if (job.right_transposed)
    status = multiply (&inner, bare);
  else
    status = read_padded (&inner, bare, launch->scratch);
  if (status == LIG_OK && job.sums != LIG_NO_SUMS)
    status = sum_apart (&inner, job);
  launch->where = inner.where;
  return status;
}
} /* namespace lig */
