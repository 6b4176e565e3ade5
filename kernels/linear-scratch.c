/* SPDX-License-Identifier: MIT */
/* Decides when matmuls on GPUs copy matrices whose rows are not 16-byte aligned, and computes the
 * sizes of the copies. */
#include "kernels/demands.h"

/* The bytes of a copy, and the number of operations from which it pays off: an unaligned matmul of
 * that size takes a tenth of a millisecond more. */
#define COPY_BYTES (256LL << 20)
#define MIN_FLOPS 2e10
#define MAX_ROWS (1LL << 28) /* so that a copy has fewer than 2^32 parts */

static int64_t
between (int64_t min, int64_t value, int64_t max)
{
  return value > max ? max : value < min ? min : value;
}

int64_t
lig_padded_stride (int64_t columns, LigDtype dtype)
{
  int64_t size = (int64_t) lig_dtype_size (dtype), line = 128 / size;
  return columns * size % 16 == 0 ? columns : (columns + line - 1) / line * line;
}

int64_t
lig_padded_rows (int64_t rows, int64_t columns, LigDtype dtype)
{
  int64_t row = lig_padded_stride (columns, dtype) * (int64_t) lig_dtype_size (dtype);
  return between (1, between (128, COPY_BYTES / row / 128 * 128, rows), rows);
}

int64_t
lig_padded_columns (int64_t rows, int64_t columns, LigDtype dtype)
{
  int64_t column = rows * (int64_t) lig_dtype_size (dtype);
  return between (1, between (64, COPY_BYTES / column / 64 * 64, columns), columns);
}

/* Returns whether a matrix [rows, columns] of a matmul is copied; `depth` is the row length of the
 * other matrices, which must be aligned already. */
static int
is_copied (int64_t rows, int64_t columns, int64_t depth, LigDtype dtype, LigBackendKind backend)
{
  return backend != LIG_BACKEND_CPU && rows < MAX_ROWS &&
         (dtype == LIG_FP16 || dtype == LIG_BF16) && columns > 8 &&
         lig_padded_stride (columns, dtype) != columns &&
         lig_padded_stride (depth, dtype) == depth &&
         2.0 * (double) rows * (double) columns * (double) depth >= MIN_FLOPS;
}

/* Returns the bytes of blocks of rows of a matrix. */
static int64_t
bytes_of_rows (int64_t rows, int64_t columns, LigDtype dtype)
{
  return lig_padded_rows (rows, columns, dtype) * lig_padded_stride (columns, dtype) *
         (int64_t) lig_dtype_size (dtype);
}

/* The operands x [M, K] and weight [N, K] of y [M, N]. */
int64_t
lig_linear_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  int64_t depth = x->columns, rows = depth > 0 ? x->size / depth : 0;
  int64_t columns = depth > 0 ? weight->size / depth : 0;
  return is_copied (rows, columns, depth, x->dtype, backend)
           ? bytes_of_rows (rows, columns, x->dtype)
           : 0;
}

/* The operands dy [M, N] and weight [N, K]. */
int64_t
lig_linear_input_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *dy = &launch->operands[0], *weight = &launch->operands[1];
  int64_t columns = dy->columns, rows = columns > 0 ? dy->size / columns : 0;
  return is_copied (rows, columns, weight->columns, dy->dtype, backend)
           ? bytes_of_rows (rows, columns, dy->dtype)
           : 0;
}

/* The operands dy [M, N] and x [M, K]. */
int64_t
lig_linear_weight_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  int64_t columns = dy->columns, rows = columns > 0 ? dy->size / columns : 0;
  if (!is_copied (rows, columns, x->columns, dy->dtype, backend))
    return 0;
  int64_t width = lig_padded_columns (rows, columns, dy->dtype);
  return rows * lig_padded_stride (width, dy->dtype) * (int64_t) lig_dtype_size (dy->dtype);
}
