/* SPDX-License-Identifier: MIT */
/* Shared code of attention, forward and backward.
 *
 * Attention works on blocks of queries and keys. The scores of a block are stored transposed, one
 * row per key, so that the maxima and sums over keys vectorize over queries, and every matmul reads
 * rows of queries, keys, values or gradients without transposing them. If a block is only partly
 * visible, each step over a few keys computes only the columns of the queries that may see them;
 * the column index is the index of a query in its block. */
#pragma once

#include "kernels/attention.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/tile.h"
#include "kernels/threads.h"

#include <stdio.h>

/* The sizes of a block, of a step over keys, and of a group of queries. */
#define LIG_QUERIES 64
#define LIG_KEYS 96
#define LIG_STEP 12

/* The most queries of a text that attention_few is faster for than blocks of queries. */
#define LIG_FEW_QUERIES 4

/* A problem. `source` contains the keys and values: x, or memory. */
typedef struct {
  const LigAttentionParams *params;
  const LigTick *tick;
  const LigOperand *x, *source;
  const int32_t *lengths, *documents;
  const int32_t *slots; /* null, or the index of each row's keys in `source` */
  int64_t n_slots;
  bool cross;
  int64_t batch, padded;            /* `padded`: the number of floats of a padded head */
  int64_t rows_before;              /* rows of the batch in the ranks before this one */
  int64_t key_column, value_column; /* of the first head within a row of `source` */
  int32_t blocks;                   /* of the queries of a row */
} LigAttention;

/* A block of queries of one head in one row of the batch. */
typedef struct {
  int64_t batch, head, group;
  int32_t first, count;
  int32_t from, to;                            /* the keys that any of them sees */
  int32_t low[LIG_QUERIES], high[LIG_QUERIES]; /* the range of keys that each sees, both bounds
                                                  ascending */
  int32_t document[LIG_QUERIES], min, max;     /* their documents, and the minimum and maximum of
                                                  these */
  float slope, shift;                          /* for ALiBi; the offset of positions from query
                                                  indices */
} LigQueries;

/* The keys [key, key + count), and the columns [first, end), multiples of LIG_TILE_PAD, of the
 * queries that may see them; `masked`: some of these do not see all of the keys. */
typedef struct {
  int32_t key, count;
  int32_t first, end;
  bool masked;
} LigKeyStep;

/* Reports an invalid length of a row. The text is valid until the thread reports another one. */
static inline LigStatus
lig_attention_reject (LigLaunch *launch, int64_t row, int32_t length, int32_t keys)
{
  static _Thread_local char text[sizeof __FILE__ + 160];
  snprintf (text, sizeof text,
            __FILE__ ":" LIG_AT (__LINE__) ": attention: the length of row %lld is %ld, expected "
                                           "at least 0 and at most %ld; correct the data",
            (long long) row, (long) length, (long) keys);
  launch->where = text;
  return LIG_FAILED;
}

/* Checks the parameters against the operands; `inputs` are x, memory, lengths and documents. */
static inline LigStatus
lig_attention_prepare (LigAttention *a, LigLaunch *launch, const LigOperand *inputs)
{
  const LigAttentionParams *p = launch->params;
  const LigOperand *x = &inputs[0], *memory = &inputs[1];
  int64_t features = p->features, queries = p->heads * features, values = p->kv_heads * features;
  *a = (LigAttention){.params = p,
                      .tick = launch->tick,
                      .x = x,
                      .source = memory->data ? memory : x,
                      .lengths = inputs[2].data,
                      .documents = inputs[3].data,
                      .cross = memory->data,
                      .batch = lig_rows (x) / p->length,
                      .padded = lig_tile_padded (features),
                      .key_column = memory->data ? 0 : queries,
                      .blocks = (p->length + LIG_QUERIES - 1) / LIG_QUERIES};
  a->value_column = a->key_column + values;
  a->rows_before = launch->part * a->batch;
  if (!lig_dtype_is_floating (x->dtype) || a->source->dtype != x->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: not one floating type; convert to fp32, fp16 or bf16");
  if (p->heads % p->kv_heads != 0 || lig_rows (x) != a->batch * p->length ||
      x->columns != queries + (a->cross ? 0 : 2 * values) ||
      a->source->columns != a->value_column + values ||
      lig_rows (a->source) != a->batch * p->memory_length)
    return LIG_FAIL (launch, LIG_FAILED, "attention: the heads do not fit the rows; correct them");
  if (a->cross && a->documents)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: documents require self-attention; omit the memory");
  for (int64_t i = 0; a->lengths && i < a->batch; i++)
    if (a->lengths[i] < 0 || a->lengths[i] > p->memory_length)
      return lig_attention_reject (launch, i, a->lengths[i], p->memory_length);
  return LIG_OK;
}

/* Returns the number of threads for the launch, for which `floats` of memory each fit into the
 * workspace after the first `used` floats: one if there is little work, less than 1 if not even one
 * fits. */
static inline int
lig_attention_threads (const LigAttention *a, int64_t floats, int64_t used)
{
  const LigAttentionParams *p = a->params;
  int64_t max = ((int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) - used) / floats;
  double work = (double) lig_rows (a->x) * p->heads * p->features * p->memory_length;
  return (int) lig_min (max, work > LIG_PARALLEL_FROM ? omp_get_max_threads () : 1);
}

/* Describes the block of queries from `first` on. */
static inline void
lig_attention_queries (
  const LigAttention *a, int64_t batch, int64_t head, int32_t first, LigQueries *q)
{
  const LigAttentionParams *p = a->params;
  int32_t keys = a->lengths ? a->lengths[batch] : p->memory_length;
  if (a->slots)
    keys = keys < 0                                 ? 0
           : p->memory_length % LIG_CACHE_UNIT == 0 ? keys
                                                    : (int32_t) lig_min (keys, p->memory_length);
  int32_t queries = a->cross ? p->length : keys;
  const int32_t *documents = a->documents ? a->documents + batch * p->length : NULL;
  q->batch = batch;
  q->head = head;
  q->group = head / (p->heads / p->kv_heads);
  q->first = first;
  q->count = (int32_t) lig_min (LIG_QUERIES, p->length - first);
  q->slope = lig_attention_own_slope (p, (int32_t) head);
  q->shift = p->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? (float) (keys - queries) : 0;
  q->from = q->to = 0;
  q->min = INT32_MAX;
  q->max = INT32_MIN;
  for (int32_t i = 0; i < LIG_QUERIES; i++) {
    int32_t low = 0, high = 0;
    if (i < q->count)
      lig_attention_visible (p, queries, keys, first + i, &low, &high);
    if (high > low && q->to == 0)
      q->from = low;
    if (high > low)
      q->to = high;
    else if (q->to > 0)
      low = high = INT32_MAX;
    q->low[i] = low;
    q->high[i] = high;
    q->document[i] = documents && i < q->count ? documents[first + i] : INT32_MIN;
    if (documents && high > low && q->document[i] < q->min)
      q->min = q->document[i];
    if (documents && high > low && q->document[i] > q->max)
      q->max = q->document[i];
  }
}

/* Returns the documents of a row of the batch, or null. */
static inline const int32_t *
lig_attention_documents (const LigAttention *a, const LigQueries *q)
{
  return a->documents ? a->documents + q->batch * a->params->length : NULL;
}

/* Describes a step, whose columns do not begin before those of the previous step. */
static inline LigKeyStep
lig_attention_step (const LigAttention *a, const LigQueries *q, int32_t key, int32_t end)
{
  int32_t first = 0, last = 0;
  const int32_t *documents = lig_attention_documents (a, q);
  while (first < LIG_QUERIES && q->high[first] <= key)
    first++;
  for (last = first; last < q->count && q->low[last] < end;)
    last++;
  LigKeyStep step = {.key = key, .count = end - key};
  if (documents) {
    bool sees = false;
    for (int32_t j = key; j < end; j++)
      sees |= documents[j] >= q->min && documents[j] <= q->max;
    last = sees ? last : first;
  }
  if (last == first)
    return step;
  step.first = first / LIG_TILE_PAD * LIG_TILE_PAD;
  step.end = (last + LIG_TILE_PAD - 1) / LIG_TILE_PAD * LIG_TILE_PAD;
  step.masked =
    documents || q->high[step.first] < end || q->low[step.end - 1] > key || step.end > q->count;
  return step;
}

/* Widens rows of `features` elements, `columns` apart, to rows of `padded` floats, zero-padded. */
static inline void
lig_attention_widen (
  const LigAttention *a, const LigOperand *from, int64_t element, int64_t count, float *to)
{
  int64_t features = a->params->features, padding = a->padded - features;
  for (int64_t row = 0; row < count; row++, to += a->padded, element += from->columns) {
    lig_widen (from->dtype, lig_at (from, element), to, (size_t) features);
    memset (to + features, 0, (size_t) padding * sizeof *to);
  }
}

/* Widens the rows of a block's queries. Queries that see no key, such as those beyond a length, are
 * set to zero whatever they contain, because a weight of 0 times NaN is NaN. */
static inline void
lig_attention_widen_queries (
  const LigAttention *a, const LigQueries *q, const LigOperand *from, int64_t element, float *to)
{
  for (int32_t i = 0; i < q->count; i++, element += from->columns, to += a->padded)
    if (q->high[i] > q->low[i])
      lig_attention_widen (a, from, element, 1, to);
    else
      memset (to, 0, (size_t) a->padded * sizeof *to);
}

/* Returns the first element of a query in x. */
static inline int64_t
lig_attention_query (const LigAttention *a, const LigQueries *q)
{
  return (q->batch * a->params->length + q->first) * a->x->columns + q->head * a->params->features;
}

/* Returns the first element of a query in y, whose rows have all heads. */
static inline int64_t
lig_attention_output (const LigAttention *a, const LigQueries *q)
{
  int64_t row = q->batch * a->params->length + q->first;
  return (row * a->params->heads + q->head) * a->params->features;
}

/* Returns the index of the first query of a block in lse. */
static inline int64_t
lig_attention_statistic (const LigAttention *a, const LigQueries *q)
{
  return (q->batch * a->params->heads + q->head) * a->params->length + q->first;
}

/* Returns the index of the weight of the query in column `i` and key 0 of the unsharded row. */
static inline uint64_t
lig_attention_number (const LigAttention *a, const LigQueries *q, int32_t i)
{
  const LigAttentionParams *p = a->params;
  return lig_attention_first_weight (p, a->rows_before + q->batch, q->head) +
         (uint64_t) (lig_attention_query_position (p, q->first + i) * lig_attention_width (p));
}

/* Returns the first element of a key in `source`; its value is value_column - key_column elements
 * after it. A slot is a ring. */
static inline int64_t
lig_attention_key (const LigAttention *a, const LigQueries *q, int32_t key)
{
  int64_t place = !a->slots                ? q->batch
                  : a->slots[q->batch] < 0 ? 0
                                           : lig_min (a->slots[q->batch], a->n_slots - 1);
  int32_t at = a->slots ? key % a->params->memory_length : key;
  return (place * a->params->memory_length + at) * a->source->columns + a->key_column +
         q->group * a->params->features;
}

/* Describes the steps of a block of keys; returns their number, 0 if no query sees any of them. */
static inline int32_t
lig_attention_steps (
  const LigAttention *a, const LigQueries *q, int32_t key, int32_t count, LigKeyStep *steps)
{
  int32_t n_steps = 0, columns = 0;
  for (int32_t at = 0; at < count; at += LIG_STEP, n_steps++) {
    int32_t end = (int32_t) lig_min (at + LIG_STEP, count);
    steps[n_steps] = lig_attention_step (a, q, key + at, key + end);
    columns += steps[n_steps].end - steps[n_steps].first;
  }
  return columns > 0 ? n_steps : 0;
}

/* Returns how many of `count` keys follow `key` in memory. */
static inline int32_t
lig_attention_neighbours (const LigAttention *a, int32_t key, int32_t count)
{
  int32_t length = a->params->memory_length;
  return a->slots ? (int32_t) lig_min (count, length - key % length) : count;
}

/* Reads a block of keys and values. */
static inline void
lig_attention_read_keys (const LigAttention *a,
                         const LigQueries *q,
                         int32_t key,
                         int32_t count,
                         float *keys,
                         float *values)
{
  while (count > 0) {
    int64_t element = lig_attention_key (a, q, key);
    int32_t n = lig_attention_neighbours (a, key, count);
    lig_attention_widen (a, a->source, element, n, keys);
    lig_attention_widen (a, a->source, element + a->value_column - a->key_column, n, values);
    key += n;
    count -= n;
    keys += n * a->padded;
    values += n * a->padded;
  }
}

/* Sets the range [low, high) of a block's keys that any of `rows` queries from `i` on sees. Both
 * bounds ascend; for queries that see nothing both are 0, or both are past all keys. */
static inline bool
lig_attention_depth (const LigQueries *q,
                     int32_t i,
                     int32_t rows,
                     int32_t key,
                     int32_t count,
                     int32_t *low,
                     int32_t *high)
{
  *low = q->low[i] > key ? q->low[i] - key : 0;
  *high = (int32_t) lig_min (q->high[i + rows - 1] - key, count);
  return *high > *low;
}

/* Adds the keys or values `rows` of a block, weighted by [LIG_KEYS, LIG_QUERIES], to the sums
 * [LIG_QUERIES, padded] of the queries. */
static inline void
lig_attention_add_rows (const LigAttention *a,
                        const LigQueries *q,
                        int32_t key,
                        int32_t count,
                        const float *weights,
                        const float *rows,
                        float *sums)
{
  for (int32_t i = 0; i < q->count; i += LIG_STEP) {
    int32_t queries = (int32_t) lig_min (LIG_STEP, q->count - i), low, high;
    if (!lig_attention_depth (q, i, queries, key, count, &low, &high))
      continue;
    LigTileLeft left = {weights + low * LIG_QUERIES + i, 1, LIG_QUERIES};
    LIG_CPU (tile_matmul)
    (queries, a->padded, high - low, left, rows + low * a->padded, a->padded, sums + i * a->padded,
     a->padded, true);
  }
}

/* Turns the matmul of a step into scores: softcap, ALiBi, and minus infinity for masked keys.
 * `slope` becomes the slope of the softcap unless it is null. */
void LIG_CPU (attention_adjust) (
  const LigAttention *a, const LigQueries *q, const LigKeyStep *step, float *scores, float *slope);

/* Computes y of a few queries of each text over the keys of a cache. */
LigStatus
  LIG_CPU (attention_few) (LigLaunch *launch, const LigAttention *a, const LigOperand *outputs);

/* Sets `kept` of a step to 1 / (1 - dropout) for the weights that dropout keeps, and to 0 for the
 * others. */
void LIG_CPU (attention_kept) (const LigAttention *a,
                               const LigQueries *q,
                               const LigKeyStep *step,
                               float *kept);
