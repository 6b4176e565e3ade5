/* SPDX-License-Identifier: MIT */
/* C[m,n] = factor op(A)[m,k] op(B)[k,n] in fp32, block by block. Linear kernels differ in what they
 * do with a finished block, all of it in one pass over the block. */
#pragma once

#include "kernels/cpu/cpu.h"

/* A piece of a finished block: `rows` of `columns` floats, `stride` apart, whose corner stands at
 * (row, column) of C. It has at most LIG_PIECE columns and may be overwritten. */
typedef struct {
  float *values;
  int64_t stride, row, column, rows, columns;
} LigTile;

typedef struct {
  const LigOperand *a, *b;         /* of any floating types */
  bool a_transposed, b_transposed; /* stored as [k,m], as [n,k] */
  int64_t m, n, k;
  float factor;

  /* Where the product itself may be written, of type fp32: it is added to what is there if
   * `accumulate` is set. Without it, blocks lie in the workspace. */
  float *target;
  bool accumulate;

  /* What becomes of a tile; null: nothing, the product in `target` is the result. Tiles run in
   * parallel. If there are `column_sums`, `finish` adds its tile's to `sums`. */
  void (*finish) (const LigTile *tile, const void *data, float *sums);
  const void *data;
  const LigOperand *column_sums; /* of n elements, or null or absent */
} LigCpuProduct;

LigStatus LIG_CPU (product) (LigLaunch *launch, const LigCpuProduct *product);
