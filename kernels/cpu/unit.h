/* SPDX-License-Identifier: MIT */
/* The loops of element-wise units y = f (x): activations, and gated units, where a row of x
 * consists of two parts [a, b] of the shape of y, one after the other or interleaved. With or
 * without a bias that is added to x first, and their gradients. A family defines UNIT_PARTS, the
 * number of parts of a row of x, as 1 or 2 before it includes this file, and defines the formulas
 * on pieces. The loops are not inlined, so that all units of a family share their code. */
#pragma once

#include "kernels/cpu/rows.h"

/* Not every family has all loops. */
#define LIG_UNIT_LOOP static __attribute__ ((unused))

/* Pieces of the parts of x. An activation reads only `a`. */
typedef struct {
  const float *a, *b;
} LigUnitValues;

typedef void LigUnitForward (LigUnitValues x, float *y, int64_t count, const void *params);
typedef void LigUnitBiased (const float *x, const float *bias, float *y, int64_t count);
typedef void LigUnitBackward (
  const float *dy, LigUnitValues x, float *da, float *db, int64_t count, const void *params);

/* The split of x into pieces. With one part x is one long row, so that a piece may span several
 * short rows. */
typedef struct {
  int64_t length; /* of a part */
  int64_t pieces; /* of a part */
  int64_t tasks;  /* in total */
  int64_t block;  /* the parts of a row alternate in blocks of this length, of a whole part by
                     default */
} LigUnit;

typedef struct {
  int64_t y, a, b; /* the first element in y, and in x that of each part */
  int64_t count;
  int64_t column, block; /* the first column in y; LigUnit.block */
} LigUnitPiece;

static inline LigUnit
lig_unit (const LigOperand *x, int64_t interleave)
{
  int64_t rows = UNIT_PARTS == 1 ? 1 : lig_rows (x),
          length = UNIT_PARTS == 1 ? x->size : x->columns / UNIT_PARTS;
  int64_t pieces = (length + LIG_PIECE - 1) / LIG_PIECE;
  return (LigUnit){length, pieces, rows * pieces, interleave > 0 ? interleave : length};
}

/* Returns the column in x of a column of the first part. */
static inline int64_t
lig_unit_column (int64_t column, int64_t block)
{
  return UNIT_PARTS == 1 ? column : column + column / block * block;
}

static inline LigUnitPiece
lig_unit_piece (const LigUnit *self, int64_t index)
{
  int64_t row = index / self->pieces, first = index % self->pieces * LIG_PIECE;
  int64_t a = row * UNIT_PARTS * self->length + lig_unit_column (first, self->block);
  return (LigUnitPiece){row * self->length + first,      a,     a + self->block,
                        lig_piece (self->length, first), first, self->block};
}

/* Returns whether the piece spans several blocks, so that its values are apart in x. */
static inline bool
lig_unit_is_apart (LigUnitPiece at)
{
  return UNIT_PARTS > 1 && at.column % at.block + at.count > at.block;
}

/* Reads the values of a part of x from the blocks of a piece, of which `from` is the first element,
 * or, with `to`, writes them. */
LIG_UNIT_LOOP void
lig_unit_walk (const LigOperand *x, LigUnitPiece at, int64_t from, float *buffer, bool to)
{
  int64_t start = from - lig_unit_column (at.column, at.block), run;
  for (int64_t i = 0; i < at.count; i += run) {
    int64_t column = at.column + i, element = start + lig_unit_column (column, at.block);
    run = lig_min (at.block - column % at.block, at.count - i);
    if (!to)
      lig_load_into (x, element, run, buffer + i);
    else if (x->dtype == LIG_FP32)
      memcpy ((float *) x->data + element, buffer + i, (size_t) run * sizeof *buffer);
    else
      lig_commit (x, element, run, buffer + i);
  }
}

/* Returns the values of a part of a piece of x. */
static inline const float *
lig_unit_load_part (const LigOperand *x, LigUnitPiece at, int64_t from, float *buffer)
{
  if (!lig_unit_is_apart (at))
    return lig_load (x, from, at.count, buffer);
  lig_unit_walk (x, at, from, buffer, false);
  return buffer;
}

/* Returns the values of a piece of x. */
static inline LigUnitValues
lig_unit_load (const LigOperand *x, LigUnitPiece at, float *a, float *b)
{
  return (LigUnitValues){lig_unit_load_part (x, at, at.a, a),
                         UNIT_PARTS > 1 ? lig_unit_load_part (x, at, at.b, b) : NULL};
}

/* Returns memory for a part of a piece of dx that lig_unit_commit () will store. */
static inline float *
lig_unit_stage (const LigOperand *dx, LigUnitPiece at, int64_t from, float *buffer)
{
  return lig_unit_is_apart (at) ? buffer : lig_stage (dx, from, buffer);
}

static inline void
lig_unit_commit (const LigOperand *dx, LigUnitPiece at, int64_t from, float *staged)
{
  if (lig_unit_is_apart (at))
    lig_unit_walk (dx, at, from, staged, true);
  else
    lig_commit (dx, from, at.count, staged);
}

/* Computes y = f (x). */
LIG_UNIT_LOOP LigStatus
lig_unit_forward (LigLaunch *launch, LigUnitForward *formula, int64_t interleave)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigUnit unit = lig_unit (x, interleave);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < unit.tasks; index++) {
    float a[LIG_PIECE], b[LIG_PIECE], out[LIG_PIECE];
    LigUnitPiece at = lig_unit_piece (&unit, index);
    LigUnitValues values = lig_unit_load (x, at, a, b);
    float *to = lig_stage (y, at.y, out);
    formula (values, to, at.count, launch->params);
    lig_commit (y, at.y, at.count, to);
  }
  return LIG_OK;
}

/* Computes dx = dy f' (x): with two parts da = dy b act' (a), db = dy act (a). */
LIG_UNIT_LOOP LigStatus
lig_unit_backward (LigLaunch *launch, LigUnitBackward *formula, int64_t interleave)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  const LigUnit unit = lig_unit (x, interleave);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < unit.tasks; index++) {
    float gradient[LIG_PIECE], a[LIG_PIECE], b[LIG_PIECE];
    LigUnitPiece at = lig_unit_piece (&unit, index);
    LigUnitValues values = lig_unit_load (x, at, a, b);
    const float *from = lig_load (dy, at.y, at.count, gradient);
    float *da = lig_unit_stage (dx, at, at.a, a);
    float *db = UNIT_PARTS > 1 ? lig_unit_stage (dx, at, at.b, b) : NULL;
    formula (from, values, da, db, at.count, launch->params);
    lig_unit_commit (dx, at, at.a, da);
    if (UNIT_PARTS > 1)
      lig_unit_commit (dx, at, at.b, db);
  }
  return LIG_OK;
}

/* Computes a piece of sum = x + bias in one part of a row, rounded as the formula must see it.
 * Returns the values, in `buffer` or in the sum's memory. */
static inline const float *
lig_unit_add_bias (
  const LigLaunch *launch, const LigRepeat *bias, int64_t element, int64_t count, float *buffer)
{
  const LigOperand *x = &launch->operands[0], *sum = &launch->operands[2];
  float in[LIG_PIECE], vector[LIG_PIECE];
  const float *from = lig_load (x, element, count, in);
  const float *added = lig_repeat_at (bias, element, count, vector);
  float *to = lig_stage_if_present (sum, element, buffer);
  LIG_EACH_ELEMENT (i, count)
  to[i] = from[i] + added[i];
  lig_commit_rounded (sum, x, element, count, to);
  return to;
}

/* Computes sum = x + bias and y = f (sum), either of which may be absent. If the sum is neither
 * stored nor rounded, `biased`, if there is one, does both in one pass over the cache; adding
 * before the formula gives the same bits either way. */
LIG_UNIT_LOOP LigStatus
lig_unit_bias_forward (LigLaunch *launch, LigUnitForward *formula, LigUnitBiased *biased)
{
  const LigOperand *x = &launch->operands[0];
  const LigOperand *sum = &launch->operands[2], *y = &launch->operands[3];
  const LigUnit unit = lig_unit (x, 0);
  bool at_once = biased && x->dtype == LIG_FP32 && !sum->data;
  LigRepeat bias;
  lig_repeat (&bias, &launch->operands[1]);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < unit.tasks; index++) {
    float a[LIG_PIECE], b[LIG_PIECE], out[LIG_PIECE];
    LigUnitPiece at = lig_unit_piece (&unit, index);
    float *to = lig_stage (y, at.y, out);
    if (at_once) {
      biased (lig_load (x, at.a, at.count, a), lig_repeat_at (&bias, at.a, at.count, b), to,
              at.count);
    } else {
      LigUnitValues values = {lig_unit_add_bias (launch, &bias, at.a, at.count, a), NULL};
      if (UNIT_PARTS > 1)
        values.b = lig_unit_add_bias (launch, &bias, at.b, at.count, b);
      if (!y->data)
        continue;
      formula (values, to, at.count, launch->params);
    }
    lig_commit (y, at.y, at.count, to);
  }
  return LIG_OK;
}

/* Computes dx for one task's rows and the same columns of all parts, and its partial sums over
 * rows. */
LIG_UNIT_LOOP void
lig_unit_bias_backward_task (const LigLaunch *launch,
                             LigUnitBackward *formula,
                             LigRowTask task,
                             int64_t at_once)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  int64_t length = x->columns / UNIT_PARTS;
  float gradient[LIG_PIECE], a[LIG_PIECE], b[LIG_PIECE];
  float *sums = task.sums + task.first;
  for (int part = 0; part < UNIT_PARTS; part++)
    memset (sums + part * length, 0, (size_t) task.width * sizeof *sums);
  /* Short rows are read several at once if they have one part. */
  for (int64_t row = task.row, rows; row < task.end; row += rows) {
    rows = UNIT_PARTS > 1 ? 1 : lig_min (at_once, task.end - row);
    int64_t first = row * UNIT_PARTS * length + task.first;
    LigUnitPiece at = {row * length + task.first, first,      first + length,
                       rows * task.width,         task.first, length};
    LigUnitValues values = lig_unit_load (x, at, a, b);
    const float *from = lig_load (dy, at.y, at.count, gradient);
    float *da = lig_stage_if_present (dx, at.a, a);
    float *db = UNIT_PARTS > 1 ? lig_stage_if_present (dx, at.b, b) : NULL;
    formula (from, values, da, db, at.count, launch->params);
    lig_commit_rounded (dx, x, at.a, at.count, da);
    lig_add_rows (sums, da, rows, task.width);
    if (UNIT_PARTS == 1)
      continue;
    lig_commit_rounded (dx, x, at.b, at.count, db);
    lig_add_rows (sums + length, db, rows, task.width);
  }
}

/* Computes dx, and dbias, the sum of the rounded dx over rows. */
LIG_UNIT_LOOP LigStatus
lig_unit_bias_backward (LigLaunch *launch, LigUnitBackward *formula)
{
  const LigOperand *x = &launch->operands[1], *dbias = &launch->operands[3];
  int64_t width = x->columns / UNIT_PARTS;
  LigRowSum sum = lig_row_sum (launch, x, width);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < sum.tasks; index++)
    lig_unit_bias_backward_task (launch, formula, lig_row_task (&sum, index, width), sum.at_once);
  lig_row_sum_finish (&sum, dbias, launch->accumulate);
  return LIG_OK;
}

#define LIG_UNIT_INTERLEAVED(noun) \
  "bias and " noun ": the halves are interleaved; add the bias separately"

/* Defines the four kernels of a unit, called `noun` in error messages, from the functions that
 * apply its formulas to a piece. `interleave` is an expression of `launch`. */
#define LIG_UNIT_KERNELS(noun, name, backward_name, bias_name, bias_backward_name, biased, \
                         interleave) \
  LigStatus LIG_CPU (name) (LigLaunch * launch) \
  { \
    return lig_all_floating (launch, 2) \
             ? lig_unit_forward (launch, name##_piece, interleave) \
             : LIG_FAIL (launch, LIG_UNSUPPORTED, \
                         noun ": not a floating type; convert to fp32, fp16 or bf16"); \
  } \
  LigStatus LIG_CPU (backward_name) (LigLaunch * launch) \
  { \
    return lig_all_floating (launch, 3) \
             ? lig_unit_backward (launch, backward_name##_piece, interleave) \
             : LIG_FAIL (launch, LIG_UNSUPPORTED, \
                         noun ": not a floating type; convert to fp32, fp16 or bf16"); \
  } \
  LigStatus LIG_CPU (bias_name) (LigLaunch * launch) \
  { \
    if ((interleave) > 0) \
      return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_UNIT_INTERLEAVED (noun)); \
    return lig_all_floating (launch, 4) \
             ? lig_unit_bias_forward (launch, name##_piece, biased) \
             : LIG_FAIL (launch, LIG_UNSUPPORTED, \
                         "bias and " noun ": not a floating type; convert to fp32, fp16 or bf16"); \
  } \
  LigStatus LIG_CPU (bias_backward_name) (LigLaunch * launch) \
  { \
    if ((interleave) > 0) \
      return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_UNIT_INTERLEAVED (noun)); \
    return lig_all_floating (launch, 4) && lig_row_sum_fits (launch->operands[1].columns) \
             ? lig_unit_bias_backward (launch, backward_name##_piece) \
             : LIG_FAIL (launch, LIG_UNSUPPORTED, \
                         "bias and " noun \
                         ": not a floating type, or more than 2^23 columns; convert or reduce " \
                         "them"); \
  }
