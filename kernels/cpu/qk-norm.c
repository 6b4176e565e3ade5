/* SPDX-License-Identifier: MIT */
/* Norms of the query and key heads of packed rows, each over the head dim. */
#include "kernels/cpu/cpu.h"
#include <ligature/params-norm.h>

#include <math.h>

/* The largest head dim. */
#define MAX_FEATURES 4096

typedef struct {
  const LigQkNormParams *params;
  const LigOperand *dy, *x, *mean, *rstd, *out; /* dy is null in the forward pass */
  const float *gains[2], *biases[2];            /* of queries and keys; null means 1 and 0 */
  int64_t rows;
} QkNorm;

/* The features of one head. */
typedef struct {
  int64_t at;        /* its first element */
  int64_t statistic; /* the index of its mean and rstd */
  int kind;          /* 0: query, 1: key */
} Head;

static Head
head_of (const QkNorm *q, int64_t row, int64_t head)
{
  int64_t heads = q->params->heads, normed = heads + q->params->kv_heads;
  return (Head){row * q->x->columns + head * q->params->features, row * normed + head,
                head >= heads};
}

/* Copies the value heads of a row. */
static void
copy_values (const QkNorm *q, const LigOperand *from, int64_t row)
{
  int64_t values = (int64_t) q->params->kv_heads * q->params->features;
  int64_t at = (row + 1) * from->columns - values;
  if (from->data != q->out->data)
    memcpy (lig_at (q->out, at), lig_at (from, at), (size_t) values * lig_dtype_size (from->dtype));
}

/* Normalizes one head. */
static void
normalize (const QkNorm *q, Head head)
{
  float values[MAX_FEATURES];
  int32_t features = q->params->features;
  const float *gain = q->gains[head.kind], *bias = q->biases[head.kind];
  lig_widen (q->x->dtype, lig_at (q->x, head.at), values, (size_t) features);
  float squares = 0, mean = q->params->kind == LIG_QK_LAYER_NORM ? values[0] : 0, rest = mean;
  /* The mean of the differences is added twice: see norm.c. */
  for (int pass = 0; pass < 2 && q->params->kind == LIG_QK_LAYER_NORM; pass++) {
    rest = 0;
#pragma omp simd reduction(+ : rest)
    for (int32_t i = 0; i < features; i++)
      rest += values[i] - mean;
    rest /= (float) features;
    mean += rest;
  }
#pragma omp simd reduction(+ : squares)
  for (int32_t i = 0; i < features; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  if (q->params->kind != LIG_QK_L2)
    squares /= (float) features;
  float rstd = 1 / sqrtf (squares + q->params->eps);
#pragma omp simd
  for (int32_t i = 0; i < features; i++)
    values[i] = (values[i] - mean) * rstd * (gain ? gain[i] : 1) + (bias ? bias[i] : 0);
  if (q->out->data)
    lig_narrow (q->out->dtype, values, lig_at (q->out, head.at), (size_t) features);
  if (q->mean->data)
    ((float *) q->mean->data)[head.statistic] = mean;
  if (q->rstd->data)
    ((float *) q->rstd->data)[head.statistic] = rstd;
}

/* Computes the gradient of one head, and adds those of its weight and bias to `gains` and `biases`
 * unless these are null. */
static void
normalize_backward (const QkNorm *q, Head head, float *gains, float *biases)
{
  float x[MAX_FEATURES], dy[MAX_FEATURES];
  int32_t features = q->params->features;
  const float *gain = q->gains[head.kind];
  float mean = q->mean->data ? ((const float *) q->mean->data)[head.statistic] : 0;
  float rstd = ((const float *) q->rstd->data)[head.statistic], u_mean = 0, uh_mean = 0;
  lig_widen (q->x->dtype, lig_at (q->x, head.at), x, (size_t) features);
  lig_widen (q->dy->dtype, lig_at (q->dy, head.at), dy, (size_t) features);
  for (int32_t i = 0; biases && i < features; i++)
    biases[i] += dy[i];
#pragma omp simd
  for (int32_t i = 0; i < features; i++)
    x[i] = (x[i] - mean) * rstd;
  for (int32_t i = 0; gains && i < features; i++)
    gains[i] += dy[i] * x[i];
  if (!q->out->data)
    return;
  for (int32_t i = 0; gain && i < features; i++)
    dy[i] *= gain[i];
#pragma omp simd reduction(+ : u_mean, uh_mean)
  for (int32_t i = 0; i < features; i++) {
    u_mean += dy[i];
    uh_mean += dy[i] * x[i];
  }
  float share = q->params->kind == LIG_QK_L2 ? 1 : 1 / (float) features;
  u_mean *= q->params->kind == LIG_QK_LAYER_NORM ? share : 0;
  uh_mean *= share;
#pragma omp simd
  for (int32_t i = 0; i < features; i++)
    dy[i] = rstd * (dy[i] - u_mean - x[i] * uh_mean);
  lig_narrow (q->out->dtype, dy, lig_at (q->out, head.at), (size_t) features);
}

/* Returns a vector of a head as floats, converted into the workspace unless it is fp32; null if
 * absent. */
static const float *
vector_of (const LigOperand *vector, float **free)
{
  if (!lig_is_present (vector) || vector->dtype == LIG_FP32)
    return vector->data;
  float *values = *free;
  lig_widen (vector->dtype, vector->data, values, (size_t) vector->size);
  *free += vector->size;
  return values;
}

/* Checks the operands and parameters. */
static LigStatus
check (LigLaunch *launch, QkNorm *q)
{
  const LigQkNormParams *p = q->params;
  int64_t heads = p->heads + 2 * (int64_t) p->kv_heads;
  if (!lig_dtype_is_floating (q->x->dtype) ||
      (lig_is_present (q->out) && q->out->dtype != q->x->dtype))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "qk-norm: not one floating type; convert to fp32, fp16 or bf16");
  if (q->x->columns != heads * p->features)
    return LIG_FAIL (launch, LIG_FAILED, "qk-norm: the heads do not fit the rows; correct them");
  if (p->features > MAX_FEATURES)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "qk-norm: a head has more than 4096 features; reduce them");
  q->rows = lig_rows (q->x);
  return LIG_OK;
}

/* Computes y, mean and rstd. */
LigStatus
LIG_CPU (qk_norm) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  float *free = launch->workspace;
  QkNorm q = {.params = launch->params, .x = &o[0], .out = &o[5], .mean = &o[6], .rstd = &o[7]};
  LigStatus status = check (launch, &q);
  if (status != LIG_OK)
    return status;
  for (int i = 0; i < 2; i++) {
    q.gains[i] = vector_of (&o[1 + 2 * i], &free);
    q.biases[i] = vector_of (&o[2 + 2 * i], &free);
  }
  int64_t heads = q.params->heads + q.params->kv_heads;
#pragma omp parallel for schedule(static) if (q.x->size > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < q.rows; row++) {
    for (int64_t head = 0; head < heads; head++)
      normalize (&q, head_of (&q, row, head));
    if (q.out->data)
      copy_values (&q, q.x, row);
  }
  return LIG_OK;
}

/* Computes dx and the gradients of the weights and biases, each of which may be absent. A block of
 * rows has partial sums of four vectors. */
LigStatus
LIG_CPU (qk_norm_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  float *free = launch->workspace;
  QkNorm q = {.params = launch->params,
              .dy = &o[0],
              .x = &o[1],
              .gains = {NULL, NULL},
              .mean = &o[4],
              .rstd = &o[5],
              .out = &o[6]};
  LigStatus status = check (launch, &q);
  if (status != LIG_OK)
    return status;
  q.gains[0] = vector_of (&o[2], &free);
  q.gains[1] = vector_of (&o[3], &free);
  int64_t features = q.params->features, heads = q.params->heads + q.params->kv_heads;
  LigPartition partition = lig_partition (q.rows, 6 * features);
#pragma omp parallel for schedule(static) if (q.x->size > LIG_PARALLEL_FROM)
  for (int64_t block = 0; block < partition.blocks; block++) {
    float *sums = free + block * 4 * features;
    int64_t first = block * partition.rows_per_block, end = first + partition.rows_per_block;
    memset (sums, 0, (size_t) (4 * features) * sizeof *sums);
    for (int64_t row = first; row < end && row < q.rows; row++) {
      for (int64_t i = 0; i < heads; i++) {
        Head head = head_of (&q, row, i);
        normalize_backward (&q, head, sums + 2 * head.kind * features,
                            sums + (2 * head.kind + 1) * features);
      }
      if (q.out->data)
        copy_values (&q, q.dy, row);
    }
  }
  for (int i = 0; i < 4; i++)
    if (lig_is_present (&o[7 + i]))
      LIG_CPU (reduce_partials)
  (free + i * features, partition.blocks, 4 * features, features, &o[7 + i], launch->accumulate);
  return LIG_OK;
}
