/* SPDX-License-Identifier: MIT */
/* Vocabulary-parallel cross-entropy (Shoeybi and others, "Megatron-LM", 2019): the statistics of
 * each row over a rank's shard of the classes, and the loss computed from the statistics of all
 * ranks, in rank order, so that all ranks compute the same bits. */
#include "kernels/cpu/loss.h"

/* The numbers per row of a part: for the cross-entropy, and for the accuracy. */
enum { MAXIMUM, EXPS, SUM, LOGIT, ENTROPY_PART };
enum { LARGEST, AIM, BEATEN, ACCURACY_PART };

/* Returns the index of the target in this rank's shard, or -1 if another rank has it. */
static int64_t
place_of (const LigCrossEntropyParams *params, const LigOperand *x, int32_t target)
{
  int64_t place = target - params->part.first;
  return target != params->ignored && place >= 0 && place < shown_classes (params, x) ? place : -1;
}

/* Computes the statistics of each row for the loss. */
LigStatus
LIG_CPU (cross_entropy_part) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0];
  const int32_t *targets = launch->operands[1].data;
  float *parts = launch->operands[2].data;
  LigCrossEntropyParams params = parameters (launch);
  int64_t rows = lig_rows (x);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++) {
    float *part = parts + row * ENTROPY_PART;
    RowSum sum = sum_row (x, row * x->columns, shown_classes (&params, x));
    int64_t place = place_of (&params, x, targets[row]);
    part[MAXIMUM] = sum.max;
    part[EXPS] = (float) sum.exps;
    part[SUM] = params.label_smoothing > 0 ? (float) sum.sum : 0;
    part[LOGIT] = place < 0 ? 0 : element (x, row * x->columns + place);
  }
  return LIG_OK;
}

/* The parts of all ranks: row r of rank t is row t * rows + r. */
typedef struct {
  const float *parts;
  int64_t rows, ranks;
} Parts;

static Parts
parts_of (const LigLaunch *launch, int width)
{
  const LigOperand *parts = &launch->operands[0];
  int64_t rows = launch->operands[1].size;
  return (Parts){parts->data, rows, parts->size / (rows * width)};
}

/* Combines the parts of a row. */
static RowSum
join_row (const Parts *parts, int64_t row, const LigCrossEntropyParams *params, double *logit)
{
  int64_t each = params->part.count / parts->ranks;
  RowSum sum = {-INFINITY, 0, 0};
  const int64_t step = parts->rows * ENTROPY_PART;
  const float *first = parts->parts + row * ENTROPY_PART;
  *logit = 0;
  for (int64_t i = 0; i < parts->ranks; i++)
    sum.max = first[i * step + MAXIMUM] > sum.max ? first[i * step + MAXIMUM] : sum.max;
  float shift = shift_of (&sum);
  for (int64_t i = 0; i < parts->ranks; i++) {
    const float *part = first + i * step;
    double less = (double) (part[MAXIMUM] == -INFINITY ? 0 : part[MAXIMUM]) - (double) shift;
    sum.exps += (double) part[EXPS] * exp (less);
    sum.sum += (double) part[SUM] + less * (double) lig_shown_classes (params, i * each, each);
    *logit += (double) part[LOGIT];
  }
  return sum;
}

/* Computes the losses and lse of rows `first` to `end`, and returns their sum. */
static Total
join_block (const LigLaunch *launch, const Parts *parts, int64_t first, int64_t end)
{
  const int32_t *targets = launch->operands[1].data;
  LigCrossEntropyParams params = parameters (launch);
  double smoothing = (double) params.label_smoothing;
  int64_t classes = lig_count_classes (&params, 0);
  Total total = {0};
  for (int64_t row = first; row < end; row++) {
    double logit;
    RowSum sum = join_row (parts, row, &params, &logit);
    write_lse (&launch->operands[3], row, &sum);
    if (targets[row] == params.ignored)
      continue;
    if (targets[row] < 0 || targets[row] >= classes) {
      total.outside = true;
      continue;
    }
    total.sum += loss_of (&sum, logit, smoothing, classes);
    total.count++;
  }
  return total;
}

/* Computes y, lse [M, 2] and count. */
LigStatus
LIG_CPU (cross_entropy_join) (LigLaunch *launch)
{
  Parts parts = parts_of (launch, ENTROPY_PART);
  Total totals[MAX_BLOCKS];
  LigPartition partition = lig_partition (parts.rows, 1);
#pragma omp parallel for schedule(static) if (parts.rows * parts.ranks > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    int64_t first = block * partition.rows_per_block, end = first + partition.rows_per_block;
    totals[block] = join_block (launch, &parts, first, end < parts.rows ? end : parts.rows);
  }
  Total total = total_of (totals, partition.blocks);
  if (total.outside)
    return LIG_FAIL (launch, LIG_FAILED, "target is not one of the classes; correct the data");
  write_number (&launch->operands[2], total.count ? total.sum / (double) total.count : 0);
  write_number (&launch->operands[4], (double) total.count);
  return LIG_OK;
}

/* Finds the largest of the `shown` logits of a row, and whether the target, if its index is not
 * negative, is not the first maximum. */
static void
find_rivals (const LigOperand *x, int64_t row, int64_t shown, int64_t place, float *part)
{
  float buffer[LIG_PIECE], max = -INFINITY;
  float aim = place < 0 ? INFINITY : element (x, row * x->columns + place);
  bool beaten = false;
  for (int64_t at = 0; at < shown; at += LIG_PIECE) {
    int64_t count = lig_piece (shown, at), before = place - at;
    const float *values = lig_load (x, row * x->columns + at, count, buffer);
    for (int64_t i = 0; i < count; i++) {
      beaten |= !(values[i] < aim || (values[i] == aim && i >= before));
      max = values[i] > max ? values[i] : max;
    }
  }
  part[LARGEST] = max;
  part[AIM] = place < 0 ? 0 : aim;
  part[BEATEN] = beaten;
}

/* Computes the statistics of each row for the accuracy. */
LigStatus
LIG_CPU (accuracy_part) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0];
  const int32_t *targets = launch->operands[1].data;
  float *parts = launch->operands[2].data;
  LigCrossEntropyParams params = parameters (launch);
  int64_t rows = lig_rows (x);
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++)
    find_rivals (x, row, shown_classes (&params, x), place_of (&params, x, targets[row]),
                 parts + row * ACCURACY_PART);
  return LIG_OK;
}

/* Returns whether the target is the first maximum: it is strictly larger than the logits of the
 * ranks before its own. */
static bool
hits (const Parts *parts, int64_t row, int64_t owner)
{
  const int64_t step = parts->rows * ACCURACY_PART;
  const float *first = parts->parts + row * ACCURACY_PART;
  float aim = first[owner * step + AIM];
  bool hit = true;
  for (int64_t i = 0; i < parts->ranks; i++) {
    const float *part = first + i * step;
    hit &= part[BEATEN] == 0 && (i < owner ? part[LARGEST] < aim : part[LARGEST] <= aim);
  }
  return hit;
}

/* Computes the number of rows whose target has the largest logit, and the number of counted
 * rows. */
LigStatus
LIG_CPU (accuracy_join) (LigLaunch *launch)
{
  const int32_t *targets = launch->operands[1].data;
  Parts parts = parts_of (launch, ACCURACY_PART);
  LigCrossEntropyParams params = parameters (launch);
  int64_t each = params.part.count / parts.ranks, correct = 0, counted = 0, outside = 0;
  for (int64_t row = 0; row < parts.rows; row++) {
    bool counts = targets[row] != params.ignored;
    bool inside = targets[row] >= 0 && targets[row] < lig_count_classes (&params, 0);
    counted += counts;
    outside += counts && !inside;
    correct += counts && inside && hits (&parts, row, targets[row] / each);
  }
  if (outside > 0)
    return LIG_FAIL (launch, LIG_FAILED, "target is not one of the classes; correct the data");
  write_number (&launch->operands[2], (double) correct);
  write_number (&launch->operands[3], (double) counted);
  return LIG_OK;
}
