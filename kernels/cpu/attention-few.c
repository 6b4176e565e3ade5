/* SPDX-License-Identifier: MIT */
/* Attention of a few queries, those of a generated token, over the keys of a cache: one query
 * after the other over keys in place, without the blocks of queries that longer rows are divided
 * into. */
#include "kernels/cpu/attention.h"

/* A query of one head. */
typedef struct {
  const LigAttention *attention;
  const LigQueries *queries;
  int32_t index; /* among the queries */
  float *query, *out, *row;
  float max, sum;
} Query;

static float
dot (const float *a, const float *b, int64_t count)
{
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Returns the floats of a key, or of its value if `column` is that of the values. */
static const float *
read_row (const Query *self, int32_t key, int64_t column)
{
  const LigAttention *a = self->attention;
  int64_t element = lig_attention_key (a, self->queries, key) + column;
  return lig_load (a->source, element, a->params->features, self->row);
}

/* Computes the scores of keys; returns their maximum. */
static float
score (const Query *self, int32_t key, int32_t count, float *scores)
{
  const LigAttentionParams *p = self->attention->params;
  float max = -INFINITY, inverse = p->softcap > 0 ? 1 / p->softcap : 0;
  float at = (float) (key - self->queries->first - self->index) - self->queries->shift;
  for (int32_t k = 0; k < count; k++) {
    float s = dot (self->query, read_row (self, key + k, 0), p->features);
    if (p->softcap > 0)
      s = lig_tanh (s * inverse) * p->softcap;
    if (p->alibi)
      s -= self->queries->slope * fabsf (at + (float) k);
    scores[k] = s;
    max = s > max ? s : max;
  }
  return max;
}

/* Adds the values of keys, weighted by the exponentials of their scores. */
static void
add_values (Query *self, int32_t key, int32_t count, float *scores, float max)
{
  const LigAttention *a = self->attention;
  int64_t features = a->params->features, column = a->value_column - a->key_column;
  float raised = max > self->max ? max : self->max, base = raised == -INFINITY ? 0 : raised;
  float factor = lig_decay (base - self->max);
  self->max = raised;
  self->sum *= factor;
  for (int64_t d = 0; d < features; d++)
    self->out[d] *= factor;
#pragma omp simd
  for (int32_t k = 0; k < count; k++)
    scores[k] = lig_decay (scores[k] - base);
  for (int32_t k = 0; k < count; k++) {
    const float *value = read_row (self, key + k, column);
    float weight = scores[k];
    self->sum += weight;
#pragma omp simd
    for (int64_t d = 0; d < features; d++)
      self->out[d] += weight * value[d];
  }
}

/* Computes y and lse of all queries of a head, which has `memory` of 3 padded rows. */
static void
run_head (const LigAttention *a, int64_t number, float *memory, const LigOperand *outputs)
{
  const LigOperand *y = &outputs[0], *lse = &outputs[1];
  const LigAttentionParams *p = a->params;
  float scores[LIG_KEYS];
  LigQueries q;
  lig_attention_queries (a, number / p->heads, number % p->heads, 0, &q);
  for (int32_t i = 0; i < q.count; i++) {
    Query query = {a, &q, i, memory, memory + a->padded, memory + 2 * a->padded, -INFINITY, 0};
    lig_widen (a->x->dtype, lig_at (a->x, lig_attention_query (a, &q) + i * a->x->columns),
               query.query, (size_t) p->features);
    for (int64_t d = 0; d < p->features; d++)
      query.query[d] *= p->scale;
    memset (query.out, 0, (size_t) p->features * sizeof *query.out);
    for (int32_t key = q.low[i]; key < q.high[i]; key += LIG_KEYS) {
      int32_t count = (int32_t) lig_min (LIG_KEYS, q.high[i] - key);
      float max = score (&query, key, count, scores);
      add_values (&query, key, count, scores, max);
    }
    float inverse = query.sum > 0 ? 1 / query.sum : 0;
    for (int64_t d = 0; d < p->features; d++)
      query.out[d] *= inverse;
    if (y->data)
      lig_narrow (y->dtype, query.out, lig_at (y, lig_attention_output (a, &q) + i * y->columns),
                  (size_t) p->features);
    if (lse->data)
      lig_attention_store (lse->data, lse->size / 2, lig_attention_statistic (a, &q) + i,
                           query.sum > 0 ? (double) query.max + (double) logf (query.sum) : 0);
  }
}

LigStatus
LIG_CPU (attention_few) (LigLaunch *launch, const LigAttention *a, const LigOperand *outputs)
{
  int64_t floats = 3 * a->padded, heads = a->batch * a->params->heads;
  int threads = lig_attention_threads (a, floats, 0);
  float *workspace = launch->workspace;
  if (threads < 1)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: the head dim is too large for the workspace; reduce it");
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int64_t head = 0; head < heads; head++)
    run_head (a, head, workspace + omp_get_thread_num () * floats, outputs);
  return LIG_OK;
}
