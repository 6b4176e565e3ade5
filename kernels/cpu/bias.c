/* SPDX-License-Identifier: MIT */
/* The addition of a bias to rows, and the gradient of the bias. */
#include "kernels/cpu/rows.h"

/* Computes y = x + bias for rows of x [M, N] and a bias [N]. */
LigStatus
LIG_CPU (bias) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[2];
  if (!lig_all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias: not a floating type; convert to fp32, fp16 or bf16");
  LigRepeat repeat;
  lig_repeat (&repeat, &launch->operands[1]);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t element = 0; element < x->size; element += LIG_PIECE) {
    float in[LIG_PIECE], vector[LIG_PIECE], out[LIG_PIECE];
    int64_t count = lig_piece (x->size, element);
    const float *from = lig_load (x, element, count, in);
    const float *bias = lig_repeat_at (&repeat, element, count, vector);
    float *to = lig_stage (y, element, out);
    LIG_EACH_ELEMENT (i, count)
    to[i] = from[i] + bias[i];
    lig_commit (y, element, count, to);
  }
  return LIG_OK;
}

/* Computes dbias [N], the sum over rows of dy [M, N]. */
LigStatus
LIG_CPU (bias_backward) (LigLaunch *launch)
{
  const LigOperand *dy = &launch->operands[0], *dbias = &launch->operands[1];
  int64_t columns = dy->columns;
  if (!lig_all_floating (launch, 2) || !lig_row_sum_fits (columns))
    return LIG_FAIL (
      launch, LIG_UNSUPPORTED,
      "bias: not a floating type, or more than 2^23 columns; convert or reduce them");
  LigRowSum sum = lig_row_sum (launch, dy, columns);
#pragma omp parallel for schedule(static) if (dy->size > LIG_PARALLEL_FROM)
  for (int64_t index = 0; index < sum.tasks; index++) {
    float in[LIG_PIECE];
    LigRowTask task = lig_row_task (&sum, index, columns);
    float *sums = task.sums + task.first;
    memset (sums, 0, (size_t) task.width * sizeof *sums);
    for (int64_t row = task.row; row < task.end; row += sum.at_once) {
      int64_t rows = lig_min (sum.at_once, task.end - row);
      const float *from = lig_load (dy, row * columns + task.first, rows * task.width, in);
      lig_add_rows (sums, from, rows, task.width);
    }
  }
  lig_row_sum_finish (&sum, dbias, launch->accumulate);
  return LIG_OK;
}
