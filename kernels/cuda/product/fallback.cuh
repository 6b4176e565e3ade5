/* SPDX-License-Identifier: MIT */
/* What completes the products of cuBLASLt: conversions, a product of any types, and all that may
 * follow a product, done to a block of it that lies in fp32 in the workspace. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/product/product.h"

namespace lig
{
/* The element at (row, column) of a matrix. */
inline void *
element (const LigMatrix &matrix, int64_t row, int64_t column)
{
  size_t at = (size_t) (row * matrix.stride + column) * lig_dtype_size (matrix.dtype);
  return (char *) matrix.data + at;
}

/* `to` = `from` in the other's type, [rows, columns]. */
LigStatus
convert_matrix (LigLaunch *launch, LigMatrix from, LigMatrix to, int64_t rows, int64_t columns);

/* high + low = the elements of a fp32 vector, to twice the precision of the 16-bit type. */
LigStatus
split_vector (LigLaunch *launch, const float *from, LigMatrix high, LigMatrix low, int64_t count);

/* result = factor left right for operands of any floating types and alignments; the result is fp32,
 * and nothing else of `product` takes part. */
LigStatus multiply_any (LigLaunch *launch, const LigProduct *product);

/* What becomes of a block of fp32 products, in this order; absent matrices take no part. Matrices
 * point to the block's corner. gelu's argument is rounded to `aux_dtype`, whether it is kept or
 * not, and `staged` is left with the result as rounded to y's type. */
struct Finish {
  LigMatrix staged; /* fp32 */
  int64_t rows, columns;
  Vector bias;
  LigMatrix extra;
  LigActivation activation;
  LigMatrix aux;
  LigDtype aux_dtype;
  LigMatrix y;
  bool keeps_staged;
};
LigStatus finish_block (LigLaunch *launch, const Finish &finish);

/* sums[column] (+)= the sum over the rows of a block, in an order that depends on nothing else. */
LigStatus add_columns (
  LigLaunch *launch, LigMatrix staged, int64_t rows, int64_t columns, float *sums, bool accumulate);
} /* namespace lig */
