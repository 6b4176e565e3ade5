/* SPDX-License-Identifier: MIT */
/* Sub-blocks of a matmul: some columns or rows of its result, or a slice of its depth (K). */
#pragma once

#include "kernels/cuda/matmul/fallback.cuh"

namespace lig
{
/* Moves the start of a matrix, unless it is absent, to an element. */
inline void
advance (LigMatrix &matrix, int64_t row, int64_t column)
{
  if (matrix.data)
    matrix.data = element (matrix, row, column);
}

/* Returns the matmul for `count` columns of the result from `column` on. */
inline LigMatmul
columns_of (LigMatmul job, int64_t column, int64_t count)
{
  job.columns = count;
  advance (job.right, job.right_transposed ? column : 0, job.right_transposed ? 0 : column);
  advance (job.extra, 0, column);
  advance (job.aux, 0, column);
  advance (job.result, 0, column);
  if (job.sums != LIG_SUMS_OF_LEFT)
    advance (job.vector, 0, column);
  return job;
}

/* Returns the matmul for `count` rows of the result from `row` on; its sums are partial sums. */
inline LigMatmul
rows_of (LigMatmul job, int64_t row, int64_t count)
{
  job.rows = count;
  advance (job.left, job.left_transposed ? 0 : row, job.left_transposed ? row : 0);
  advance (job.extra, row, 0);
  advance (job.aux, row, 0);
  advance (job.result, row, 0);
  return job;
}

/* Returns the matmul for `count` elements of its depth from `at` on. */
inline LigMatmul
depth_of (LigMatmul job, int64_t at, int64_t count)
{
  job.depth = count;
  advance (job.left, job.left_transposed ? at : 0, job.left_transposed ? 0 : at);
  advance (job.right, job.right_transposed ? 0 : at, job.right_transposed ? at : 0);
  return job;
}
} /* namespace lig */
