/* SPDX-License-Identifier: MIT */
/* Grouped matmuls with warpgroup MMA, for compute capability 9.0, and 16-bit or quantized operands.
 * The operands are those of the kernels grouped_linear, grouped_backward_input,
 * grouped_backward_weight and grouped_fp8, which the caller has checked. */
#pragma once

#include <ligature/launch.h>

/* A matmul of the rows of each group. */
typedef struct {
  const LigOperand *x, *weight, *offsets; /* [R, depth]; a matrix per group; [G + 1] */
  const LigOperand *bias, *scales, *y;    /* [G, columns], [R], both may be absent; [R, columns] */
  bool along; /* weight is [G, columns, depth], not [G, depth, columns] */
} LigGroupedRows;

/* Returns whether lig_multiply_groups() supports the matmul on this device. */
bool lig_multiply_groups_serves (const LigLaunch *launch, const LigGroupedRows *matmul);

/* Launches y_i = x_i times the matrix of its group, plus the bias of the group times the scale of
 * the row. Rows in no group are 0. */
LigStatus lig_multiply_groups (LigLaunch *launch, const LigGroupedRows *matmul);

/* A matmul of quantized rows of each group. */
typedef struct {
  const LigOperand *a, *b, *offsets; /* [R, depth]; [G, columns, depth]; [G + 1] */
  const LigOperand *a_scale, *b_scale;
  const LigOperand *bias, *scales, *y; /* as above */
  int left, right;                     /* the LigScales of a and b */
  float factor;
  bool fast; /* may accumulate with less precision than fp32 */
} LigGroupedFp8;

/* Returns whether lig_multiply_fp8_groups() supports the matmul on this device. */
bool lig_multiply_fp8_groups_serves (const LigLaunch *launch, const LigGroupedFp8 *matmul);

/* Launches y_i = factor times a_i times the matrix of its group, plus the bias as above. */
LigStatus lig_multiply_fp8_groups (LigLaunch *launch, const LigGroupedFp8 *matmul);

/* Returns whether lig_grouped_weights() supports the matmul on this device. */
bool lig_grouped_weights_serves (const LigLaunch *launch,
                                 const LigOperand *dy,
                                 const LigOperand *x,
                                 const LigOperand *dweight);

/* The gradients of the matrices of groups. */
typedef struct {
  const LigOperand *dy, *x, *dweight;
  const int *borders; /* the first rows of the groups, and the end of the last, in device memory */
  int *next;          /* a number in device memory that is 0 */
  int64_t groups;
} LigGroupedWeights;

/* Launches dweight[g] = dy^T x over the rows of each group; added to it if the launch
 * accumulates. */
LigStatus lig_grouped_weights (LigLaunch *launch, const LigGroupedWeights *matmul);
