/* SPDX-License-Identifier: MIT */
/* Gated units y = act (a) b (formulas.h), where a row of x [M, 2 N] is [a, b] and y is [M, N],
 * with or without a bias [2 N] that is added to x before, and their gradients. */
#include "kernels/cpu/rows.h"
#include "kernels/formulas.h"
#include <ligature/params-gated.h>

typedef struct {
  const float *a, *b;
} Halves;

typedef void Forward (Halves x, float *y, int64_t count, const LigClampedParams *params);
typedef void Backward (
  const float *dy, Halves x, float *da, float *db, int64_t count, const LigClampedParams *params);

/* Returns the launch's parameters, or the defaults. */
static const LigClampedParams *
clamped_params (const LigLaunch *launch)
{
  static const LigClampedParams defaults = {.limit = 7, .alpha = 1.702f, .offset = 1};
  return launch->params ? launch->params : &defaults;
}

/* Computes y = act (a) b. */
static LigStatus
forward (LigLaunch *launch, Forward *formula)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  int64_t half = x->columns / 2, pieces = (half + LIG_PIECE - 1) / LIG_PIECE;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "gated unit: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < lig_rows (x) * pieces; index++) {
    float gate[LIG_PIECE], linear[LIG_PIECE], out[LIG_PIECE];
    int64_t row = index / pieces, first = index % pieces * LIG_PIECE;
    int64_t count = lig_piece (half, first);
    int64_t a = row * 2 * half + first, element = row * half + first;
    Halves halves = {lig_load (x, a, count, gate), lig_load (x, a + half, count, linear)};
    float *to = lig_stage (y, element, out);
    formula (halves, to, count, clamped_params (launch));
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* Computes dx = [da, db]: da = dy b act' (a), db = dy act (a). */
static LigStatus
backward (LigLaunch *launch, Backward *formula)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  int64_t half = x->columns / 2, pieces = (half + LIG_PIECE - 1) / LIG_PIECE;
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "gated unit: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < lig_rows (x) * pieces; index++) {
    float gradient[LIG_PIECE], gate[LIG_PIECE], linear[LIG_PIECE];
    int64_t row = index / pieces, first = index % pieces * LIG_PIECE;
    int64_t count = lig_piece (half, first);
    int64_t a = row * 2 * half + first, b = a + half;
    Halves halves = {lig_load (x, a, count, gate), lig_load (x, b, count, linear)};
    const float *from = lig_load (dy, row * half + first, count, gradient);
    float *da = lig_stage (dx, a, gate), *db = lig_stage (dx, b, linear);
    formula (from, halves, da, db, count, clamped_params (launch));
    lig_commit (dx, a, count, da);
    lig_commit (dx, b, count, db);
  }
  return LIG_OK;
}

/* Computes a piece of sum = x + bias in one half of a row, rounded as the formula has to see it.
 * Returns the values, in `buffer` or in the sum's memory. */
static const float *
biased (const LigLaunch *launch, int64_t element, int64_t column, int64_t count, float *buffer)
{
  const LigOperand *x = &launch->operands[0], *sum = &launch->operands[2];
  float in[LIG_PIECE], vector[LIG_PIECE];
  const float *from = lig_load (x, element, count, in);
  const float *bias = lig_load (&launch->operands[1], column, count, vector);
  float *to = lig_stage_if_present (sum, element, buffer);
  LIG_EACH_ELEMENT (i, count)
  to[i] = from[i] + bias[i];
  lig_commit_rounded (sum, x, element, count, to);
  return to;
}

/* Computes sum = x + bias, and y from the sum; either may be absent. */
static LigStatus
bias_forward (LigLaunch *launch, Forward *formula)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[3];
  int64_t half = x->columns / 2, pieces = (half + LIG_PIECE - 1) / LIG_PIECE;
  if (!lig_all_floating (launch, 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and gated unit: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < lig_rows (x) * pieces; index++) {
    float gate[LIG_PIECE], linear[LIG_PIECE], out[LIG_PIECE];
    int64_t row = index / pieces, first = index % pieces * LIG_PIECE;
    int64_t count = lig_piece (half, first);
    int64_t a = row * 2 * half + first, element = row * half + first;
    Halves halves = {biased (launch, a, first, count, gate),
                     biased (launch, a + half, half + first, count, linear)};
    if (!y->data)
      continue;
    float *to = lig_stage (y, element, out);
    formula (halves, to, count, clamped_params (launch));
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* Computes dx for one task's rows and the same columns of both halves, and its partial sums over
 * rows. */
static void
bias_backward_task (const LigLaunch *launch, Backward *formula, LigRowTask task)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  int64_t half = x->columns / 2, count = task.width;
  float gradient[LIG_PIECE], gate[LIG_PIECE], linear[LIG_PIECE];
  float *a_sums = task.sums + task.first, *b_sums = a_sums + half;
  memset (a_sums, 0, (size_t) count * sizeof *a_sums);
  memset (b_sums, 0, (size_t) count * sizeof *b_sums);
  for (int64_t row = task.row; row < task.end; row++) {
    int64_t a = row * 2 * half + task.first, b = a + half;
    Halves halves = {lig_load (x, a, count, gate), lig_load (x, b, count, linear)};
    const float *from = lig_load (dy, row * half + task.first, count, gradient);
    float *da = lig_stage_if_present (dx, a, gate), *db = lig_stage_if_present (dx, b, linear);
    formula (from, halves, da, db, count, clamped_params (launch));
    lig_commit_rounded (dx, x, a, count, da);
    lig_commit_rounded (dx, x, b, count, db);
    lig_add_rows (a_sums, da, 1, count);
    lig_add_rows (b_sums, db, 1, count);
  }
}

/* Computes dx, and dbias [2 N], the sum of dx as rounded over rows. */
static LigStatus
bias_backward (LigLaunch *launch, Backward *formula)
{
  const LigOperand *x = &launch->operands[1], *dbias = &launch->operands[3];
  int64_t columns = x->columns;
  if (!lig_all_floating (launch, 4) || !lig_row_sum_fits (columns))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and gated unit: not a floating type, or more than 2^23 columns; convert "
                     "or reduce them");
  LigRowSum sum = lig_row_sum (launch, x, columns / 2);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < sum.tasks; index++)
    bias_backward_task (launch, formula, lig_row_task (&sum, index, columns / 2));
  lig_row_sum_finish (&sum, dbias, launch->accumulate);
  return LIG_OK;
}

/* Defines the four kernels of a unit, and the functions that apply its formulas to a piece. */
#define UNIT(name, backward_name, bias_name, bias_backward_name, forward_formula, \
             backward_formula) \
  LIG_PIECE_FUNCTION name##_piece (Halves x, float *y, int64_t count, \
                                   const LigClampedParams *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = forward_formula; \
  } \
  LIG_PIECE_FUNCTION backward_name##_piece (const float *dy, Halves x, float *da, float *db, \
                                            int64_t count, const LigClampedParams *params) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    backward_formula; \
  } \
  LigStatus LIG_CPU (name) (LigLaunch * launch) \
  { \
    return forward (launch, name##_piece); \
  } \
  LigStatus LIG_CPU (backward_name) (LigLaunch * launch) \
  { \
    return backward (launch, backward_name##_piece); \
  } \
  LigStatus LIG_CPU (bias_name) (LigLaunch * launch) \
  { \
    return bias_forward (launch, name##_piece); \
  } \
  LigStatus LIG_CPU (bias_backward_name) (LigLaunch * launch) \
  { \
    return bias_backward (launch, backward_name##_piece); \
  }

#define SIMPLE_UNIT(name, backward, biased, biased_backward, ...) \
  UNIT (name, backward, biased, biased_backward, lig_##name (x.a[i], x.b[i]), \
        lig_##backward (dy[i], x.a[i], x.b[i], &da[i], &db[i]))
LIG_EACH_GATED (SIMPLE_UNIT)

#define UNIT_WITH_PARAMS(name, backward, biased, biased_backward, ...) \
  UNIT (name, backward, biased, biased_backward, \
        lig_##name (x.a[i], x.b[i], params->limit, params->alpha, params->offset), \
        lig_##backward (dy[i], x.a[i], x.b[i], params->limit, params->alpha, params->offset, \
                        &da[i], &db[i]))
LIG_EACH_GATED_WITH_PARAMS (UNIT_WITH_PARAMS)
