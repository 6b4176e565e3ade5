/* SPDX-License-Identifier: MIT */
/* Small matmuls inside parallel regions, where BLAS must not run. */
#pragma once

#include "kernels/cpu/cpu.h"

/* The number of floats to which rows are padded: the longest vector of any instruction level. */
#define LIG_TILE_PAD 16

/* Returns the length of a row of `count` floats with its padding. */
static inline int64_t
lig_tile_padded (int64_t count)
{
  return (count + LIG_TILE_PAD - 1) / LIG_TILE_PAD * LIG_TILE_PAD;
}

/* A matrix of floats: element (i, k) is at data[i * row + k * column]. */
typedef struct {
  const float *data;
  int64_t row, column;
} LigTileLeft;

/* Computes c = a b, or c += a b, where a is [rows, depth], b is [depth, columns] and c is [rows,
 * columns]; the row strides of b and c are `b_row` and `c_row`. `columns` is a multiple of
 * LIG_TILE_PAD. */
void LIG_CPU (tile_matmul) (int64_t rows,
                            int64_t columns,
                            int64_t depth,
                            LigTileLeft a,
                            const float *b,
                            int64_t b_row,
                            float *c,
                            int64_t c_row,
                            bool add);

/* Writes the transpose of a [rows, columns], with row stride `a_row`, with row stride `b_row`. Both
 * sizes are multiples of 4. */
void LIG_CPU (tile_transpose) (
  const float *a, int64_t a_row, int64_t rows, int64_t columns, float *b, int64_t b_row);
