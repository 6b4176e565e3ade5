/* SPDX-License-Identifier: MIT */
/* Attention sinks: a learned number per head joins the sum of exponentials of the softmax, but has
 * no value (Xiao and others, 2023; GPT-OSS, 2025). The results of attention without them, and their
 * log-sum-exps, suffice to add them afterwards. */
#include "kernels/cpu/rows.h"
#include "kernels/log-sums.h"
#include <ligature/params-sinks.h>

#include <math.h>

/* Checks the operands: rows of y or dy, their lse and the sinks. */
static LigStatus
check (LigLaunch *launch, const LigOperand *y, const LigOperand *lse, const LigOperand *sinks)
{
  const LigSinksParams *p = launch->params;
  if (!lig_all_floating (launch, 5) || lse->dtype != LIG_FP32)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "sinks: not a floating type; convert the input");
  if (!p || p->heads < 1 || p->features < 1 || p->length < 1 || sinks->size != p->heads ||
      y->columns != (int64_t) p->heads * p->features || lig_rows (y) % p->length != 0 ||
      lse->size != 2 * lig_rows (y) * p->heads)
    return LIG_FAIL (launch, LIG_FAILED, "sinks: they do not fit the rows; compile the plan again");
  return LIG_OK;
}

/* Returns the index in lse of the first head of a row; that of the next head is `length` further.
 */
static int64_t
first_of (const LigSinksParams *p, int64_t row)
{
  return row / p->length * p->heads * p->length + row % p->length;
}

/* Computes y and lse, each of which may be absent. */
LigStatus
LIG_CPU (attention_sinks) (LigLaunch *launch)
{
  const LigSinksParams *p = launch->params;
  const LigOperand *x = &launch->operands[0], *before = &launch->operands[1],
                   *sinks = &launch->operands[2], *y = &launch->operands[3];
  float *lse = launch->operands[4].data;
  LigStatus status = check (launch, x, before, sinks);
  if (status != LIG_OK)
    return status;
#pragma omp parallel for schedule(static) if (x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < lig_rows (x); row++)
    for (int64_t head = 0; head < p->heads; head++) {
      int64_t at = first_of (p, row) + head * p->length, count = before->size / 2;
      double own = lig_attention_load (before->data, count, at);
      float one, sink = *lig_load (sinks, head, 1, &one), kept = lig_attention_kept (own, sink);
      int64_t first = row * x->columns + head * p->features;
      for (int64_t d = 0; y->data && d < p->features; d += LIG_PIECE) {
        float buffer[LIG_PIECE], out[LIG_PIECE];
        int64_t features = lig_piece (p->features, d);
        const float *from = lig_load (x, first + d, features, buffer);
        LIG_EACH_ELEMENT (i, features)
        out[i] = kept * from[i];
        lig_narrow (y->dtype, out, lig_at (y, first + d), (size_t) features);
      }
      if (lse)
        lig_attention_store (lse, count, at, lig_attention_with_sink (own, sink));
    }
  return LIG_OK;
}

/* Returns the sum of dy y over the features of a head. */
static float
dot_head (const LigOperand *dy, const LigOperand *y, int64_t first, int64_t features)
{
  float sum = 0;
  for (int64_t d = 0; d < features; d += LIG_PIECE) {
    float left[LIG_PIECE], right[LIG_PIECE];
    int64_t count = lig_piece (features, d);
    const float *a = lig_load (dy, first + d, count, left),
                *b = lig_load (y, first + d, count, right);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
      sum += a[i] * b[i];
  }
  return sum;
}

/* Computes dsinks [H]. */
LigStatus
LIG_CPU (attention_sinks_backward) (LigLaunch *launch)
{
  const LigSinksParams *p = launch->params;
  const LigOperand *dy = &launch->operands[0], *y = &launch->operands[1],
                   *lse = &launch->operands[2], *sinks = &launch->operands[3];
  float *partials = launch->workspace;
  LigStatus status = check (launch, y, lse, sinks);
  if (status != LIG_OK)
    return status;
  if (dy->size != y->size || !lig_row_sum_fits (p->heads))
    return LIG_FAIL (launch, LIG_FAILED, "sinks: they do not fit the rows; compile the plan again");
  LigPartition partition = lig_partition (lig_rows (y), p->heads);
#pragma omp parallel for schedule(static) if (y->size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    float *sums = partials + block * p->heads;
    int64_t row = block * partition.rows_per_block,
            end = lig_min (row + partition.rows_per_block, lig_rows (y));
    memset (sums, 0, (size_t) p->heads * sizeof *sums);
    for (; row < end; row++)
      for (int64_t head = 0; head < p->heads; head++) {
        double own =
          lig_attention_load (lse->data, lse->size / 2, first_of (p, row) + head * p->length);
        float one, sink = *lig_load (sinks, head, 1, &one);
        sums[head] -= expf ((float) ((double) sink - own)) *
                      dot_head (dy, y, row * y->columns + head * p->features, p->features);
      }
  }
  LIG_CPU (reduce_partials)
  (partials, partition.blocks, p->heads, p->heads, &launch->operands[4], launch->accumulate);
  return LIG_OK;
}
