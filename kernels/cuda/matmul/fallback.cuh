/* SPDX-License-Identifier: MIT */
/* Operations that complement cuBLASLt: conversions, a matmul of any types, and the complete
 * epilogue, applied to a block of a matmul that is staged in fp32 in the workspace. */
#pragma once

#include "kernels/cuda/common/cuda.cuh"
#include "kernels/cuda/matmul/matmul.h"

namespace lig
{
/* Returns the address of the element at (row, column) of a matrix. */
inline void *
element (const LigMatrix &matrix, int64_t row, int64_t column)
{
  size_t at = (size_t) (row * matrix.stride + column) * lig_dtype_size (matrix.dtype);
  return (char *) matrix.data + at;
}

/* Converts `from` to the type of `to`; both are [rows, columns]. */
LigStatus
convert_matrix (LigLaunch *launch, LigMatrix from, LigMatrix to, int64_t rows, int64_t columns);

/* Computes result = factor left right for operands of any floating types and alignments. The result
 * is fp32; the other members of `matmul` are ignored. */
LigStatus multiply_any (LigLaunch *launch, const LigMatmul *matmul);

/* The epilogue of a staged fp32 block, in this order; absent matrices are skipped. Matrices begin
 * at the block's first element. gelu's input is rounded to `aux_dtype`, whether it is stored or
 * not. If `keeps_staged`, `staged` is overwritten with the result rounded to y's type. */
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

/* Applies this epilogue to a block. */
LigStatus finish_block (LigLaunch *launch, const Finish &finish);

/* Sums the columns of a block: sums[column] (+)= the sum over its rows, in a fixed order. */
LigStatus add_columns (
  LigLaunch *launch, LigMatrix staged, int64_t rows, int64_t columns, float *sums, bool accumulate);
} /* namespace lig */
