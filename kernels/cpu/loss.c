/* SPDX-License-Identifier: MIT */
/* Losses over rows of x [M, C], each reduced to a scalar y, and their gradients. The gradient of
 * the cross-entropy supports sharded classes.
 *
 * cross_entropy, with label smoothing s:
 *   lse = log (sum exp x), q = (1 - s) [c = target] + s / C,
 *   y = mean over counted rows of sum (q (lse - x)), dx = dy (exp (x - lse) - q) / count,
 * over the classes, after which x may have padding. A row whose target is `ignored` is not counted;
 * if no row is counted, y and dx are 0 (PyTorch: NaN).
 *
 * mean_squared_error:
 *   y = mean ((x - targets)^2), dx = 2 dy (x - targets) / size = -dtargets. */
#include "kernels/cpu/loss.h"

/* Computes the losses and lse of rows `first` to `end`, and returns their sum. */
static Total
entropy_block (const LigLaunch *launch, int64_t first, int64_t end)
{
  const LigOperand *x = &launch->operands[0], *lse = &launch->operands[3];
  const int32_t *targets = launch->operands[1].data;
  LigCrossEntropyParams params = parameters (launch);
  double smoothing = (double) params.label_smoothing;
  int64_t shown = shown_classes (&params, x);
  Total total = {0};
  for (int64_t row = first; row < end; row++) {
    int64_t start = row * x->columns;
    RowSum sum = sum_row (x, start, shown);
    write_lse (lse, row, &sum);
    if (targets[row] == params.ignored)
      continue;
    if (targets[row] < 0 || targets[row] >= shown) {
      total.outside = true;
      continue;
    }
    total.sum += loss_of (&sum, (double) element (x, start + targets[row]), smoothing, shown);
    total.count++;
  }
  return total;
}

/* Computes y, lse [M, 2] and count. */
LigStatus
LIG_CPU (cross_entropy) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0];
  Total totals[MAX_BLOCKS];
  int64_t rows = lig_rows (x);
  LigPartition partition = lig_partition (rows, 1);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    int64_t first = block * partition.rows_per_block, end = first + partition.rows_per_block;
    totals[block] = entropy_block (launch, first, end < rows ? end : rows);
  }
  Total total = total_of (totals, partition.blocks);
  if (total.outside)
    return LIG_FAIL (launch, LIG_FAILED, "target is not one of the classes; correct the data");
  write_number (&launch->operands[2], total.count ? total.sum / (double) total.count : 0);
  write_number (&launch->operands[4], (double) total.count);
  return LIG_OK;
}

/* Computes dx of a row: factor (exp (x - lse) - even), minus factor hit at the target, and 0 for
 * padding, after the `shown` classes. An ignored row has the factor 0, and may contain infinities.
 * lse is two numbers. */
static void
entropy_row (const LigOperand *x,
             const LigOperand *dx,
             int64_t row,
             int64_t shown,
             int64_t target,
             const float *lse,
             float factor,
             float even,
             float hit)
{
  float buffer[LIG_PIECE], staged[LIG_PIECE], max = lse[0], logarithm = lse[1];
  for (int64_t at = 0; at < x->columns; at += LIG_PIECE) {
    int64_t count = lig_piece (x->columns, at), start = row * x->columns + at;
    const float *values = lig_load (x, start, count, buffer);
    float *out = lig_stage (dx, start, staged);
    int64_t counted = factor == 0 || shown < at ? 0 : shown - at < count ? shown - at : count;
#pragma omp simd
    for (int64_t i = 0; i < counted; i++)
      out[i] = factor * (lig_exp (values[i] - max - logarithm) - even);
    if (target >= at && target < at + counted)
      out[target - at] -= factor * hit;
    memset (out + counted, 0, (size_t) (count - counted) * sizeof *out);
    lig_commit (dx, start, count, out);
  }
}

/* Computes dx from dy, x, targets, lse and count. A target in another rank's shard has no
 * effect. */
LigStatus
LIG_CPU (cross_entropy_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[1], *dx = &o[5];
  const int32_t *targets = o[2].data;
  LigCrossEntropyParams params = parameters (launch);
  int64_t rows = lig_rows (x), classes = lig_count_classes (&params, x->columns);
  float count = element (&o[4], 0), factor = count > 0 ? element (&o[0], 0) / count : 0;
  float even = params.label_smoothing / (float) classes, hit = 1 - params.label_smoothing;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++)
    entropy_row (x, dx, row, shown_classes (&params, x), targets[row] - params.part.first,
                 (const float *) o[3].data + 2 * row, targets[row] == params.ignored ? 0 : factor,
                 even, hit);
  return LIG_OK;
}

/* Computes y from the mean over this rank's rows, their number, and the average number per rank. */
LigStatus
LIG_CPU (cross_entropy_weigh) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  double count = (double) element (&o[2], 0);
  double sum = (double) element (&o[0], 0) * (double) element (&o[1], 0);
  write_number (&o[3], count > 0 ? sum / count : 0);
  return LIG_OK;
}

/* Returns whether the target is the first maximum of the `shown` logits. */
static bool
hits (const LigOperand *x, int64_t row, int64_t shown, int64_t target)
{
  float buffer[LIG_PIECE], aim = element (x, row * x->columns + target);
  int64_t above = 0;
  for (int64_t at = 0; at < shown; at += LIG_PIECE) {
    int64_t count = lig_piece (shown, at), before = target - at;
    const float *values = lig_load (x, row * x->columns + at, count, buffer);
    for (int64_t i = 0; i < count; i++)
      above += !(values[i] < aim || (values[i] == aim && i >= before));
  }
  return above == 0;
}

/* Computes the number of rows whose target has the largest logit, and the number of counted
 * rows. */
LigStatus
LIG_CPU (accuracy) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0];
  const int32_t *targets = launch->operands[1].data;
  LigCrossEntropyParams params = parameters (launch);
  int64_t ignored = params.ignored, shown = shown_classes (&params, x);
  int64_t rows = lig_rows (x), correct = 0, counted = 0, outside = 0;
#pragma omp parallel for schedule(static) reduction(+ : correct, counted, outside) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++) {
    bool counts = targets[row] != ignored;
    bool inside = targets[row] >= 0 && targets[row] < shown;
    counted += counts;
    outside += counts && !inside;
    correct += counts && inside && hits (x, row, shown, targets[row]);
  }
  if (outside > 0)
    return LIG_FAIL (launch, LIG_FAILED, "target is not one of the classes; correct the data");
  write_number (&launch->operands[2], (double) correct);
  write_number (&launch->operands[3], (double) counted);
  return LIG_OK;
}

/* Computes y. */
LigStatus
LIG_CPU (mean_squared_error) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *targets = &launch->operands[1];
  Total totals[MAX_BLOCKS] = {0};
  int64_t pieces = (x->size + LIG_PIECE - 1) / LIG_PIECE;
  LigPartition partition = lig_partition (pieces, 1);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    float x_buffer[LIG_PIECE], target_buffer[LIG_PIECE];
    int64_t at = block * partition.rows_per_block * LIG_PIECE;
    int64_t end = at + partition.rows_per_block * LIG_PIECE;
    for (; at < end && at < x->size; at += LIG_PIECE) {
      int64_t count = lig_piece (x->size, at);
      const float *a = lig_load (x, at, count, x_buffer);
      const float *b = lig_load (targets, at, count, target_buffer);
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
      totals[block].sum += (double) sum;
    }
  }
  Total total = total_of (totals, partition.blocks);
  write_number (&launch->operands[2], x->size ? total.sum / (double) x->size : 0);
  return LIG_OK;
}

/* Computes dx and dtargets; either may be absent. */
LigStatus
LIG_CPU (mean_squared_error_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *x = &o[1];
  float factor = x->size ? element (&o[0], 0) * 2 / (float) x->size : 0;
  int64_t pieces = (x->size + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t i = 0; i < pieces; i++) {
    float x_buffer[LIG_PIECE], buffer[LIG_PIECE];
    int64_t at = i * LIG_PIECE, count = lig_piece (x->size, at);
    const float *a = lig_load (x, at, count, x_buffer), *b = lig_load (&o[2], at, count, buffer);
    for (int64_t j = 0; j < count; j++)
      buffer[j] = factor * (a[j] - b[j]);
    if (o[3].data)
      lig_narrow (o[3].dtype, buffer, lig_at (&o[3], at), (size_t) count);
    for (int64_t j = 0; j < count; j++)
      buffer[j] = -buffer[j];
    if (o[4].data)
      lig_narrow (o[4].dtype, buffer, lig_at (&o[4], at), (size_t) count);
  }
  return LIG_OK;
}
