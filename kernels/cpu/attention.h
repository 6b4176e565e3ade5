/* SPDX-License-Identifier: MIT */
/* The common parts of attention, forward and backward: the problem, and access to its rows. */
#pragma once

#include "kernels/attention.h"
#include "kernels/cpu/cpu.h"

/* The largest number of features of a head. */
#define MOST_FEATURES 4096

/* A problem. Keys and values are in x, or in memory. */
typedef struct {
  const LigAttentionParams *params;
  const LigTick *tick;
  const LigOperand *x, *values; /* `values`: of the keys and values */
  const int32_t *lengths, *documents;
  bool cross;
  int64_t batch;
  int64_t key_column, value_column; /* of the first head in a row of `values` */
} LigAttention;

/* One query of one head. */
typedef struct {
  int64_t batch, head, i;
  int64_t query, key, value, out; /* elements: of the query, of the first key and value, of y */
  int64_t number;                 /* of the weight of key 0 */
  int32_t first, end;
} LigAttentionRow;

static inline LigStatus
lig_attention_prepare (LigAttention *a, LigLaunch *launch, const LigOperand *inputs)
{
  const LigAttentionParams *p = launch->params;
  const LigOperand *x = &inputs[0], *memory = &inputs[1];
  *a = (LigAttention){.params = p,
                      .tick = launch->tick,
                      .x = x,
                      .values = memory->data ? memory : x,
                      .lengths = inputs[2].data,
                      .documents = inputs[3].data,
                      .cross = memory->data,
                      .batch = lig_rows (x) / p->length,
                      .key_column = memory->data ? 0 : (int64_t) p->heads * p->features};
  a->value_column = a->key_column + (int64_t) p->kv_heads * p->features;
  if (p->features > MOST_FEATURES)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: a head has more than 4096 features; reduce them");
  return LIG_OK;
}

static inline LigAttentionRow
lig_attention_row (const LigAttention *a, int64_t n)
{
  const LigAttentionParams *p = a->params;
  int64_t batch = n / p->length / p->heads, head = n / p->length % p->heads, i = n % p->length;
  LigAttentionRow r = {.batch = batch, .head = head, .i = i, .number = n * p->memory_length};
  int64_t group = head / (p->heads / p->kv_heads), row = batch * p->length + i;
  int32_t keys = a->lengths ? a->lengths[batch] : p->memory_length;
  r.query = row * a->x->columns + head * p->features;
  r.out = (row * p->heads + head) * p->features;
  r.key = batch * p->memory_length * a->values->columns + a->key_column + group * p->features;
  r.value = r.key + a->value_column - a->key_column;
  lig_attention_visible (p, a->cross ? p->length : keys, keys, (int32_t) i, &r.first, &r.end);
  return r;
}

static inline float
lig_attention_at (const LigOperand *operand, int64_t element)
{
  float value;
  lig_widen (operand->dtype, lig_at (operand, element), &value, 1);
  return value;
}

static inline bool
lig_attention_sees (const LigAttention *a, const LigAttentionRow *r, int32_t j)
{
  const int32_t *documents = a->documents ? a->documents + r->batch * a->params->length : NULL;
  return j >= r->first && j < r->end && (!documents || documents[r->i] == documents[j]);
}

/* Returns the score of a key, and its slope over that of the product. */
static inline float
lig_attention_score (const LigAttention *a, const LigAttentionRow *r, int32_t j, float *slope)
{
  const LigAttentionParams *p = a->params;
  float s = 0, keys = a->lengths ? (float) a->lengths[r->batch] : (float) p->memory_length;
  for (int32_t d = 0; d < p->features; d++)
    s += lig_attention_at (a->x, r->query + d) *
         lig_attention_at (a->values, r->key + j * a->values->columns + d);
  s *= p->scale;
  float t = p->softcap > 0 ? tanhf (s / p->softcap) : 0;
  if (p->softcap > 0)
    s = p->softcap * t;
  if (slope)
    *slope = p->scale * (1 - t * t);
  bool bottom = p->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT && a->cross;
  float at = (float) r->i + (bottom ? keys - (float) p->length : 0);
  if (p->alibi)
    s -= lig_attention_slope ((int32_t) r->head, p->heads) * fabsf ((float) j - at);
  return s;
}

/* Returns 1 / (1 - dropout) for the weights that are kept, else 0. */
static inline float
lig_attention_kept (const LigAttention *a, const LigAttentionRow *r, int32_t j)
{
  uint32_t words[4];
  uint64_t e = (uint64_t) (r->number + j);
  if (!(a->params->dropout > 0))
    return 1;
  lig_random_words (a->tick->seed, e / 4, a->params->path_hash, a->tick->micro_step, words);
  return words[e % 4] >= lig_dropout_threshold (a->params->dropout) ? 1 / (1 - a->params->dropout)
                                                                    : 0;
}
