/* SPDX-License-Identifier: MIT */
/* The matmul C [m, n] = factor op (A) [m, k] op (B) [k, n] in fp32, block by block. Linear kernels
 * differ in their epilogues, which run in one pass over each finished block. */
#pragma once

#include "kernels/cpu/cpu.h"
#include <ligature/scales.h>

/* A tile of a finished block: `rows` rows of `columns` floats, with row stride `stride`, whose
 * first element is at (row, column) of C. It has at most LIG_PIECE columns and may be
 * overwritten. */
typedef struct {
  float *values;
  int64_t stride, row, column, rows, columns;
} LigTile;

typedef struct {
  const LigOperand *a, *b;         /* of any floating types, or quantized */
  bool a_transposed, b_transposed; /* stored as [k, m], as [n, k] */
  int64_t m, n, k;
  float factor;

  /* The scales of quantized operands, except per-tensor scales, which are part of the factor; null:
   * none. Those of some rows of a larger matrix have as many columns as those of that matrix. */
  const LigOperand *a_scales, *b_scales;
  LigScales a_kind, b_kind;

  /* The fp32 memory [m, n] into which the matmul itself may be written; it is added to the old
   * values if `accumulate` is set. If null, blocks are staged in the workspace. */
  float *target;
  bool accumulate;

  /* Processes a finished tile, and adds its columns to `sums` if there are `column_sums`; tiles are
   * processed in parallel. If null, the matmul in `target` is the result. */
  void (*finish) (const LigTile *tile, const void *data, float *sums);
  const void *data;
  const LigOperand *column_sums; /* sums of n columns; null or absent: none */
} LigCpuMatmul;

LigStatus LIG_CPU (matmul) (LigLaunch *launch, const LigCpuMatmul *matmul);
