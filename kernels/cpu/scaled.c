/* SPDX-License-Identifier: MIT */
/* Units whose output is multiplied by a number per row: y = scales[row] unit (x), dx = scales[row]
 * times the unit's gradient, dscales[row] = the sum of dy unit (x) over the row, in fp32. */
#define UNIT_PARTS 2
#include "kernels/cpu/gated.h"
#include "kernels/cpu/unit.h"

/* Computes unit (x) in `y`; and the gradients da and db of dy unit (x). An activation has no b. */
typedef void Forward (LigUnitValues x, float *y, int64_t count, const LigGatedParams *params);
typedef void Backward (const float *dy,
                       LigUnitValues x,
                       float *da,
                       float *db,
                       int64_t count,
                       const LigGatedParams *params);

/* How each unit is called with the same arguments. */
#define swiglu_of(a, b, p) lig_swiglu (a, b)
#define swiglu_slopes(dy, a, b, p, da, db) lig_swiglu_backward (dy, a, b, da, db)
#define srelu_of(a, b, p) lig_srelu (a)
#define srelu_slopes(dy, a, b, p, da, db) (*(da) = lig_srelu_backward (dy, a))
#define clamped_swiglu_of lig_clamped_swiglu
#define clamped_swiglu_slopes lig_clamped_swiglu_backward
#define situ_glu_of lig_situ_glu
#define situ_glu_slopes lig_situ_glu_backward
#define identity_of(a, b, p) (a)
#define identity_slopes(dy, a, b, p, da, db) (*(da) = (dy))

/* The sum of products, in the same order whatever the instruction level's vectors. */
static float
dot (const float *a, const float *b, int64_t count)
{
  float sums[16] = {0}, sum = 0;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    for (int j = 0; j < 16; j++)
      sums[j] += a[i + j] * b[i + j];
  for (int j = 0; i < count; i++, j++)
    sums[j] += a[i] * b[i];
  for (int j = 0; j < 16; j++)
    sum += sums[j];
  return sum;
}

/* A row of x with one or two parts. */
typedef struct {
  LigUnit unit;
  int parts;
} Rows;

static Rows
rows_of (const LigLaunch *launch, const LigOperand *x, int parts)
{
  LigUnit unit = lig_unit (x, lig_gated_params (launch->params).interleave);
  if (parts == 1) {
    unit.length = x->columns;
    unit.pieces = (unit.length + LIG_PIECE - 1) / LIG_PIECE;
    unit.block = unit.length;
  }
  return (Rows){unit, parts};
}

/* Returns a piece of a row; that of an activation has no second part. */
static LigUnitPiece
piece_of (const Rows *rows, int64_t row, int64_t piece)
{
  LigUnitPiece at = lig_unit_piece (&rows->unit, row * rows->unit.pieces + piece);
  if (rows->parts == 1)
    at.a = at.b = at.y;
  return at;
}

static LigUnitValues
load (const Rows *rows, const LigOperand *x, LigUnitPiece at, float *a, float *b)
{
  return (LigUnitValues){lig_unit_load_part (x, at, at.a, a),
                         rows->parts > 1 ? lig_unit_load_part (x, at, at.b, b) : NULL};
}

static LigStatus
forward (LigLaunch *launch, Forward *formula, int parts)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[2];
  const float *scales = launch->operands[1].data;
  const LigGatedParams params = lig_gated_params (launch->params);
  const Rows rows = rows_of (launch, x, parts);
  if (!lig_all_floating (launch, 3) || launch->operands[1].dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scaled unit: not a floating type, or scales that are not fp32; convert them");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (x); row++)
    for (int64_t piece = 0; piece < rows.unit.pieces; piece++) {
      float a[LIG_PIECE], b[LIG_PIECE], out[LIG_PIECE];
      LigUnitPiece at = piece_of (&rows, row, piece);
      float *to = lig_stage (y, at.y, out);
      formula (load (&rows, x, at, a, b), to, at.count, &params);
      LIG_EACH_ELEMENT (i, at.count)
      to[i] *= scales[row];
      lig_commit (y, at.y, at.count, to);
    }
  return LIG_OK;
}

/* Computes a piece of dx, and returns its part of dscales. */
static float
backward_piece (const LigLaunch *launch,
                Forward *formula,
                Backward *gradient,
                const Rows *rows,
                int64_t row,
                LigUnitPiece at)
{
  const LigOperand *o = launch->operands, *x = &o[1], *dx = &o[3];
  const LigGatedParams params = lig_gated_params (launch->params);
  const float scale = ((const float *) o[2].data)[row];
  float a[LIG_PIECE], b[LIG_PIECE], out[LIG_PIECE], dy[LIG_PIECE], sum = 0;
  lig_load_into (&o[0], at.y, at.count, dy);
  LigUnitValues values = load (rows, x, at, a, b);
  if (o[4].data) {
    formula (values, out, at.count, &params);
    sum = dot (dy, out, at.count);
  }
  if (!dx->data)
    return sum;
  LIG_EACH_ELEMENT (i, at.count)
  dy[i] *= scale;
  float *da = lig_unit_stage (dx, at, at.a, a);
  float *db = rows->parts > 1 ? lig_unit_stage (dx, at, at.b, b) : NULL;
  gradient (dy, values, da, db, at.count, &params);
  lig_unit_commit (dx, at, at.a, da);
  if (db)
    lig_unit_commit (dx, at, at.b, db);
  return sum;
}

static LigStatus
backward (LigLaunch *launch, Forward *formula, Backward *gradient, int parts)
{
  const LigOperand *o = launch->operands, *x = &o[1], *dscales = &o[4];
  const Rows rows = rows_of (launch, x, parts);
  if (!lig_all_floating (launch, 5) || o[2].dtype != LIG_FP32 ||
      (dscales->data && dscales->dtype != LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "scaled unit: not a floating type, or scales that are not fp32; convert them");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (x); row++) {
    float sum = 0;
    for (int64_t piece = 0; piece < rows.unit.pieces; piece++)
      sum += backward_piece (launch, formula, gradient, &rows, row, piece_of (&rows, row, piece));
    if (dscales->data)
      ((float *) dscales->data)[row] = sum;
  }
  return LIG_OK;
}

#define KERNELS(name, backward_name, unit, parts, ...) \
  LIG_PIECE_FUNCTION unit##_piece (LigUnitValues x, float *y, int64_t count, \
                                   const LigGatedParams *p) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = unit##_of (x.a[i], x.b[i], p); \
  } \
  LIG_PIECE_FUNCTION unit##_gradient (const float *dy, LigUnitValues x, float *da, float *db, \
                                      int64_t count, const LigGatedParams *p) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    unit##_slopes (dy[i], x.a[i], x.b[i], p, &da[i], &db[i]); \
  } \
  LigStatus LIG_CPU (name) (LigLaunch * launch) \
  { \
    return forward (launch, unit##_piece, parts); \
  } \
  LigStatus LIG_CPU (backward_name) (LigLaunch * launch) \
  { \
    return backward (launch, unit##_piece, unit##_gradient, parts); \
  }
LIG_EACH_SCALED (KERNELS)
