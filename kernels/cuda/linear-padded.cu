/* SPDX-License-Identifier: MIT */
/* Products of matrices whose rows do not begin at 16-byte boundaries, because the number of their
 * columns is odd, say. The library's kernels for them take several times as long as copies of these
 * matrices, whose rows do, and the fast kernels. Lower bound: the product, and two more crossings
 * of the matrix. */
#include "kernels/cuda/linear.cuh"
#include "kernels/cuda/product/blocks.cuh"
#include "kernels/cuda/product/sums.cuh"
#include "kernels/demands.h"

namespace lig
{
/* Computes blocks of rows of the result, and copies them to their place. */
static LigStatus
write_padded (LigLaunch *launch, const LigProduct &job, void *scratch)
{
  const LigDtype dtype = job.result.dtype;
  int64_t height = lig_padded_rows (job.rows, job.columns, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (job.columns, dtype), dtype};
  for (int64_t row = 0; row < job.rows; row += height) {
    LigProduct block = rows_of (job, row, min (height, job.rows - row));
    LigMatrix result = block.result;
    block.result = copy;
    LigStatus status = multiply (launch, block);
    if (status == LIG_OK)
      status = convert_matrix (launch, copy, result, block.rows, block.columns);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* Copies blocks of rows of the left operand, and computes as many rows of the result. */
static LigStatus
read_padded (LigLaunch *launch, const LigProduct &job, void *scratch)
{
  const LigDtype dtype = job.left.dtype;
  int64_t height = lig_padded_rows (job.rows, job.depth, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (job.depth, dtype), dtype};
  for (int64_t row = 0; row < job.rows; row += height) {
    LigProduct block = rows_of (job, row, min (height, job.rows - row));
    LigStatus status = convert_matrix (launch, block.left, copy, block.rows, block.depth);
    block.left = copy;
    if (status == LIG_OK)
      status = multiply (launch, block);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

/* The same for a left operand that is transposed: blocks of its columns, so that no sum over its
 * rows is rounded on the way. */
static LigStatus
read_transposed_padded (LigLaunch *launch, const LigProduct &job, void *scratch)
{
  const LigDtype dtype = job.left.dtype;
  int64_t width = lig_padded_columns (job.depth, job.rows, dtype);
  LigMatrix copy = {scratch, lig_padded_stride (width, dtype), dtype};
  for (int64_t column = 0; column < job.rows; column += width) {
    LigProduct block = rows_of (job, column, min (width, job.rows - column));
    LigStatus status = convert_matrix (launch, block.left, copy, block.depth, block.rows);
    block.left = copy;
    if (status == LIG_OK)
      status = multiply (launch, block);
    if (status != LIG_OK)
      return status;
  }
  return LIG_OK;
}

LigStatus
multiply_padded (LigLaunch *launch, const LigProduct &job)
{
  LigLaunch inner = *launch;
  LigProduct bare = without_sums (job);
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
