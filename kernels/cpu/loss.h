/* SPDX-License-Identifier: MIT */
/* Shared code of the cross-entropy with whole and with sharded classes: totals over blocks of rows,
 * and the sums of a row. */
#pragma once

#include "kernels/classes.h"
#include "kernels/cpu/cpu.h"

#include <math.h>

/* The largest number of blocks of lig_partition. */
#define MAX_BLOCKS 64

typedef struct {
  double sum;
  int64_t count;
  bool outside; /* a target is not a valid class */
} Total;

/* Returns the launch's parameters, or the defaults. */
static inline LigCrossEntropyParams
parameters (const LigLaunch *launch)
{
  const LigCrossEntropyParams *params = launch->params;
  return params ? *params : (LigCrossEntropyParams){.ignored = -100};
}

/* Returns how many of the logits of a row are not padding. */
static inline int64_t
shown_classes (const LigCrossEntropyParams *params, const LigOperand *x)
{
  return lig_shown_classes (params, params->part.first, x->columns);
}

/* Sums the totals of all blocks in order. */
static inline Total
total_of (const Total *totals, int64_t blocks)
{
  Total total = {0};
  for (int64_t i = 0; i < blocks; i++) {
    total.sum += totals[i].sum;
    total.count += totals[i].count;
    total.outside |= totals[i].outside;
  }
  return total;
}

/* Writes a number to a scalar operand, unless it is absent. */
static inline void
write_number (const LigOperand *operand, double value)
{
  float number = (float) value;
  if (operand->data)
    lig_narrow (operand->dtype, &number, operand->data, 1);
}

/* Returns one element as fp32. */
static inline float
element (const LigOperand *operand, int64_t at)
{
  float buffer;
  return *lig_load (operand, at, 1, &buffer);
}

/* A function that loops over a piece. It is not inlined: GCC 12 splits the loop over pieces, and
 * then does not vectorize loops inlined into it. */
#define PIECE_FUNCTION static __attribute__ ((noinline))

/* Returns the maximum of `largest` and the values of a piece. */
PIECE_FUNCTION float
larger (const float *x, int64_t count, float largest)
{
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < count; i++)
    largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/* Adds sum exp (x - max) of a piece to `exps`, and the sum of x - max to `sum`. */
PIECE_FUNCTION void
add_exps (const float *x, int64_t count, float max, double *exps, double *sum)
{
  float part = 0, plain = 0;
#pragma omp simd reduction(+ : part, plain)
  for (int64_t i = 0; i < count; i++) {
    part += lig_exp (x[i] - max);
    plain += x[i] - max;
  }
  *exps += (double) part;
  *sum += (double) plain;
}

/* The maximum of a row; relative to it, or to 0 if all values are minus infinity, the sum of the
 * exponentials and the sum. */
typedef struct {
  float max;
  double exps, sum;
} RowSum;

/* Returns the number that is subtracted from a row's values. */
static inline float
shift_of (const RowSum *row)
{
  return row->max == -INFINITY ? 0 : row->max;
}

/* The log-sum-exp of a row, as the maximum and the rest: an fp32 sum of both would have too few
 * digits if the values are large. NaN without exponentials. */
static inline double
log_of (const RowSum *row)
{
  return row->exps > 0 ? log (row->exps) : (double) NAN;
}

/* Writes the two numbers of a row's lse. */
static inline void
write_lse (const LigOperand *lse, int64_t row, const RowSum *sum)
{
  float *numbers = lse->data;
  if (!numbers)
    return;
  numbers[2 * row] = sum->max;
  numbers[2 * row + 1] = (float) log_of (sum);
}

/* Returns the loss of a row of `columns` values whose shard includes the target's logit. */
static inline double
loss_of (const RowSum *row, double logit, double smoothing, int64_t columns)
{
  double logarithm = log_of (row);
  double loss = (1 - smoothing) * ((double) shift_of (row) - logit + logarithm);
  return smoothing > 0 ? loss + smoothing * (logarithm - row->sum / (double) columns) : loss;
}

/* Returns the sums of the first `columns` logits from `start` on. */
static inline RowSum
sum_row (const LigOperand *x, int64_t start, int64_t columns)
{
  float buffer[LIG_PIECE];
  RowSum row = {-INFINITY, 0, 0};
  for (int64_t at = 0; at < columns; at += LIG_PIECE) {
    int64_t count = lig_piece (columns, at);
    row.max = larger (lig_load (x, start + at, count, buffer), count, row.max);
  }
  float shift = shift_of (&row);
  for (int64_t at = 0; at < columns; at += LIG_PIECE) {
    int64_t count = lig_piece (columns, at);
    add_exps (lig_load (x, start + at, count, buffer), count, shift, &row.exps, &row.sum);
  }
  return row;
}
