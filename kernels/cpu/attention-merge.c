/* SPDX-License-Identifier: MIT */
/* Merges attention over two sets of keys, as in Ring Attention (Liu and others, 2023): each part is
 * weighted by its share of the sum of exponentials. */
#include "kernels/attention.h"
#include "kernels/cpu/rows.h"

#include <math.h>

/* The shares of both parts, and the logarithm of the total sum. */
typedef struct {
  float first, second;
  double lse;
} Shares;

/* Returns the log-sum-exp at an index of lse. */
static double
logarithm_at (const LigOperand *lse, int64_t at)
{
  return lig_attention_load (lse->data, lse->size / 2, at);
}

static Shares
share (double first, double second)
{
  double max = first > second ? first : second;
  float a = expf ((float) (first - max)), b = expf ((float) (second - max)), sum = a + b;
  return (Shares){a / sum, b / sum, max + (double) logf (sum)};
}

/* Merges one head of a row, whose elements of y begin at `at`. If `from` is negative, the part does
 * not cover it. */
static void
merge_head (const LigLaunch *launch, int64_t at, int64_t from, int64_t features, Shares shares)
{
  const LigOperand *x = &launch->operands[0], *part = &launch->operands[2],
                   *y = &launch->operands[4];
  for (int64_t d = 0; y->data && d < features; d += LIG_PIECE) {
    float sum[LIG_PIECE], buffer[LIG_PIECE];
    int64_t count = lig_piece (features, d);
    lig_widen (x->dtype, lig_at (x, at + d), sum, (size_t) count);
    if (from >= 0) {
      const float *more = lig_load (part, from + d, count, buffer);
      LIG_EACH_ELEMENT (i, count)
      sum[i] = shares.first * sum[i] + shares.second * more[i];
    }
    lig_narrow (y->dtype, sum, lig_at (y, at + d), (size_t) count);
  }
}

static LigStatus
check (LigLaunch *launch)
{
  const LigMergeParams *p = launch->params;
  const LigOperand *o = launch->operands;
  if (!lig_all_floating (launch, 6) || o[1].dtype != LIG_FP32 || o[3].dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "merge: not a floating type; convert the input");
  if (!p || p->heads < 1 || p->features < 1 || p->first < 0 || p->count < 1 ||
      p->length < p->count || p->first > p->length - p->count ||
      o[0].columns != (int64_t) p->heads * p->features || o[2].columns != o[0].columns ||
      lig_rows (&o[0]) % p->length != 0 || o[1].size != 2 * lig_rows (&o[0]) * p->heads ||
      lig_rows (&o[2]) != lig_rows (&o[0]) / p->length * p->count ||
      o[3].size != 2 * lig_rows (&o[2]) * p->heads)
    return LIG_FAIL (launch, LIG_FAILED,
                     "merge: the part does not fit the rows; compile the plan again");
  return LIG_OK;
}

/* Computes y and lse, each of which may be absent. */
LigStatus
LIG_CPU (attention_merge) (LigLaunch *launch)
{
  const LigMergeParams *p = launch->params;
  const LigOperand *o = launch->operands;
  LigStatus status = check (launch);
  if (status != LIG_OK)
    return status;
  float *lse = o[5].data;
#pragma omp parallel for schedule(static) if (o[0].size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (&o[0]); row++) {
    int64_t batch = row / p->length, place = row % p->length, from = place - p->first;
    bool inside = from >= 0 && from < p->count;
    for (int64_t head = 0; head < p->heads; head++) {
      int64_t group = batch * p->heads + head, at = group * p->length + place;
      Shares shares = {1, 0, logarithm_at (&o[1], at)};
      if (inside)
        shares = share (shares.lse, logarithm_at (&o[3], group * p->count + from));
      int64_t added = inside ? (batch * p->count + from) * o[0].columns + head * p->features : -1;
      merge_head (launch, row * o[0].columns + head * p->features, added, p->features, shares);
      if (lse)
        lig_attention_store (lse, o[5].size / 2, at, shares.lse);
    }
  }
  return LIG_OK;
}
