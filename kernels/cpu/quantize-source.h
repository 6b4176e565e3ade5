/* SPDX-License-Identifier: MIT */
/* The matrices of which kernels write quantized copies: operands, and functions of operands. */
#pragma once

#include "kernels/cpu/rows.h"
#include "kernels/quantize.h"
#include <ligature/params-quantize.h>

typedef struct LigSource LigSource;

/* A matrix of `rows` by `columns`. `read` returns `count` elements from `at` on, all in one row and
 * rounded to `dtype`, in `buffer` or in an operand's memory. */
struct LigSource {
  const float *(*read) (const LigSource *source, int64_t at, int64_t count, float *buffer);
  const LigLaunch *launch;
  LigDtype dtype;
  int64_t rows, columns;
};

/* Writes the copies of a source and their scales. The operands are those of the kernel quantize;
 * absent ones have no memory. Without `scale`, a per-tensor scale is computed from the amax. */
typedef struct {
  const LigOperand *scale, *row, *row_scale, *transposed, *transposed_scale, *recorded, *y;
} LigCopies;

LigStatus LIG_CPU (quantize_source) (LigLaunch *launch,
                                     const LigSource *source,
                                     const LigQuantizeParams *params,
                                     const LigCopies *copies);

/* Returns the operands of a fused quantizing kernel from `scale` and from `row` on. */
static inline LigCopies
lig_produced_copies (const LigLaunch *launch, int scale, int row)
{
  const LigOperand *o = launch->operands;
  return (LigCopies){.scale = &o[scale],
                     .row = &o[row],
                     .row_scale = &o[row + 1],
                     .transposed = &o[row + 2],
                     .transposed_scale = &o[row + 3],
                     .recorded = &o[row + 4],
                     .y = &o[row + 5]};
}

/* Rounds values to the type of a source. */
static inline void
lig_round_source (const LigSource *source, float *values, int64_t count)
{
  static const LigOperand none;
  const LigOperand like = {.dtype = source->dtype};
  lig_commit_rounded (&none, &like, 0, count, values);
}
