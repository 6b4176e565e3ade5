/* SPDX-License-Identifier: MIT */
/* The activations of kernels/activations.h on elements, with or without a bias that is added along
 * rows before, and their gradients. */
#include "kernels/cpu/rows.h"
#include "kernels/formulas.h"

typedef void Forward (const float *x, float *y, int64_t count);
typedef void Biased (const float *x, const float *bias, float *y, int64_t count);
typedef void Backward (const float *dy, const float *x, float *dx, int64_t count);

/* Computes y = act (x), element by element. */
static LigStatus
forward (LigLaunch *launch, Forward *formula)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "activation: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    float *to = lig_stage (y, element, out);
    formula (lig_load (x, element, count, in), to, count);
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* Computes dx = dy act' (x), element by element. */
static LigStatus
backward (LigLaunch *launch, Backward *formula)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "activation: not a floating type; convert to fp32, fp16 or bf16");
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float gradient[LIG_PIECE], in[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    float *to = lig_stage (dx, element, out);
    formula (lig_load (dy, element, count, gradient), lig_load (x, element, count, in), to, count);
    lig_commit (dx, element, count, to);
  }
  return LIG_OK;
}

/* Computes sum = x + bias and y = act (sum) for rows of x [M, N] and a bias [N]. If the sum is
 * neither kept nor rounded, `biased_formula` does both in one pass through the cache; an
 * addition that feeds the formula gives the same bits in both. */
static LigStatus
bias_forward (LigLaunch *launch, Forward *formula, Biased *biased_formula)
{
  const LigOperand *x = &launch->operands[0];
  const LigOperand *sum = &launch->operands[2], *y = &launch->operands[3];
  if (!lig_all_floating (launch, 4))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and activation: not a floating type; convert to fp32, fp16 or bf16");
  LigRepeat repeat;
  lig_repeat (&repeat, &launch->operands[1]);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], vector[LIG_PIECE], biased[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    const float *from = lig_load (x, element, count, in);
    const float *bias = lig_repeat_at (&repeat, element, count, vector);
    if (x->dtype == LIG_FP32 && !sum->data) {
      float *result = lig_stage (y, element, out);
      biased_formula (from, bias, result, count);
      lig_commit (y, element, count, result);
      continue;
    }
    float *to = lig_stage_if_present (sum, element, biased);
    LIG_EACH_ELEMENT (i, count)
    to[i] = from[i] + bias[i];
    lig_commit_rounded (sum, x, element, count, to);
    if (!y->data)
      continue;
    float *result = lig_stage (y, element, out);
    formula (to, result, count);
    lig_commit (y, element, count, result);
  }
  return LIG_OK;
}

/* Computes dx for one task's rows and columns, and its partial sums over rows. */
static void
bias_backward_task (const LigLaunch *launch, Backward *formula, LigRowTask task, int64_t at_once)
{
  const LigOperand *dy = &launch->operands[0], *x = &launch->operands[1];
  const LigOperand *dx = &launch->operands[2];
  float gradient[LIG_PIECE], in[LIG_PIECE], out[LIG_PIECE];
  float *sums = task.sums + task.first;
  memset (sums, 0, (size_t) task.width * sizeof *sums);
  for (int64_t row = task.row; row < task.end; row += at_once) {
    int64_t rows = lig_least (at_once, task.end - row), count = rows * task.width;
    int64_t element = row * x->columns + task.first;
    float *to = lig_stage_if_present (dx, element, out);
    formula (lig_load (dy, element, count, gradient), lig_load (x, element, count, in), to, count);
    lig_commit_rounded (dx, x, element, count, to);
    lig_add_rows (sums, to, rows, task.width);
  }
}

/* Computes dx = dy act' (x) for x [M, N], and dbias [N], the sum of dx as rounded over rows. */
static LigStatus
bias_backward (LigLaunch *launch, Backward *formula)
{
  const LigOperand *x = &launch->operands[1], *dbias = &launch->operands[3];
  int64_t columns = x->columns;
  if (!lig_all_floating (launch, 4) || !lig_row_sum_fits (columns))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias and activation: not a floating type, or more than 2^23 columns; convert "
                     "or reduce them");
  LigRowSum sum = lig_row_sum (launch, x, columns);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < sum.tasks; index++)
    bias_backward_task (launch, formula, lig_row_task (&sum, index, columns), sum.at_once);
  lig_row_sum_finish (&sum, dbias, launch->accumulate);
  return LIG_OK;
}

/* Defines the four kernels of an activation, and the functions that apply its formulas to a piece.
 * The backward pass of one that reads its output gets y as x. */
#define ACTIVATION(name, backward_name, bias_name, bias_backward_name, ...) \
  LIG_PIECE_FUNCTION name##_piece (const float *x, float *y, int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = lig_##name (x[i]); \
  } \
  LIG_PIECE_FUNCTION bias_name##_piece (const float *x, const float *bias, float *y, \
                                        int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    y[i] = lig_##name (x[i] + bias[i]); \
  } \
  LIG_PIECE_FUNCTION backward_name##_piece (const float *dy, const float *x, float *dx, \
                                            int64_t count) \
  { \
    LIG_EACH_ELEMENT (i, count) \
    dx[i] = lig_##backward_name (dy[i], x[i]); \
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
    return bias_forward (launch, name##_piece, bias_name##_piece); \
  } \
  LigStatus LIG_CPU (bias_backward_name) (LigLaunch * launch) \
  { \
    return bias_backward (launch, backward_name##_piece); \
  }

LIG_EACH_ACTIVATION (ACTIVATION)
