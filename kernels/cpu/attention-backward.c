/* SPDX-License-Identifier: MIT */
/* The gradient of attention, in blocks. The weights are recomputed from lse. A task covers all
 * queries and keys of one key head in one row of the batch, so that the order of its sums does not
 * depend on the number of threads. If there are few such tasks, the gradients of keys and of
 * queries become separate tasks, which are smaller and more numerous but compute the scores
 * twice. */
#include "kernels/cpu/attention.h"

typedef struct {
  LigAttention a;
  const LigOperand *dy, *y, *lse, *dx, *dsource;
  float *sums; /* fp32 gradients of keys and values, unless dsource can hold the sums itself */
} Backward;

/* The memory of one thread. */
typedef struct {
  float *queries, *dy;           /* [LIG_QUERIES, padded]; the queries are scaled */
  float *queries_down, *dy_down; /* transposed */
  float *dqueries;               /* [LIG_QUERIES, padded] */
  float *keys, *values;          /* [LIG_KEYS, padded] */
  float *weights, *dscores;      /* [LIG_KEYS, LIG_QUERIES] */
  float *slope, *kept;           /* the same, for softcap and dropout */
  float lse[LIG_QUERIES], lost[LIG_QUERIES], delta[LIG_QUERIES];
} Memory;

/* The sums of a task: those of key k begin at keys + k * row. It covers the keys [from, to); with
 * `queries` it also computes the gradients of the queries. */
typedef struct {
  float *keys, *values;
  int64_t row;
  int32_t from, to;
  bool queries;
} Sums;

/* The number of whole tasks below which they are split, and the number of keys per part. */
#define FEW_TASKS 4
#define PART_KEYS (2 * LIG_KEYS)

static int64_t
memory_floats (const LigAttention *a)
{
  return (5 * LIG_QUERIES + 2 * LIG_KEYS) * a->padded + 4 * LIG_KEYS * LIG_QUERIES;
}

static Memory
memory_at (const LigAttention *a, float *free)
{
  int64_t queries = LIG_QUERIES * a->padded, keys = LIG_KEYS * a->padded;
  float *scores = free + 5 * queries + 2 * keys;
  return (Memory){
    .queries = free,
    .dy = free + queries,
    .queries_down = free + 2 * queries,
    .dy_down = free + 3 * queries,
    .dqueries = free + 4 * queries,
    .keys = free + 5 * queries,
    .values = free + 5 * queries + keys,
    .weights = scores,
    .dscores = scores + LIG_KEYS * LIG_QUERIES,
    .slope = scores + 2 * LIG_KEYS * LIG_QUERIES,
    .kept = scores + 3 * LIG_KEYS * LIG_QUERIES,
  };
}

/* Returns whether the gradients of keys and values are summed in their operand. */
static bool
sums_directly (const LigOperand *dsource, int64_t features)
{
  return dsource->dtype == LIG_FP32 && features % LIG_TILE_PAD == 0;
}

/* Reads a block of queries, their gradients, and everything else that the weights depend on. */
static void
read_queries (const Backward *b, const LigQueries *q, Memory *m)
{
  const LigAttention *a = &b->a;
  size_t floats = (size_t) (LIG_QUERIES * a->padded);
  const float *lse = b->lse->data, *lost = lse + b->lse->size / 2;
  int64_t statistic = lig_attention_statistic (a, q), out = lig_attention_output (a, q);
  memset (m->queries, 0, 2 * floats * sizeof *m->queries);
  lig_attention_widen_queries (a, q, a->x, lig_attention_query (a, q), m->queries);
  for (int64_t i = 0; i < q->count * a->padded; i++)
    m->queries[i] *= a->params->scale;
  /* The memory for the queries' gradients holds y until it is cleared. */
  lig_attention_widen_queries (a, q, b->dy, out, m->dy);
  lig_attention_widen_queries (a, q, b->y, out, m->dqueries);
  for (int32_t i = 0; i < LIG_QUERIES; i++) {
    const float *dy = m->dy + i * a->padded, *y = m->dqueries + i * a->padded;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t d = 0; d < (i < q->count ? a->padded : 0); d++)
      sum += dy[d] * y[d];
    m->delta[i] = sum;
    m->lse[i] = i < q->count ? lse[statistic + i] : 0;
    m->lost[i] = i < q->count ? lost[statistic + i] : 0;
  }
  memset (m->dqueries, 0, floats * sizeof *m->dqueries);
  LIG_CPU (tile_transpose)
  (m->queries, a->padded, LIG_QUERIES, a->padded, m->queries_down, LIG_QUERIES);
  LIG_CPU (tile_transpose) (m->dy, a->padded, LIG_QUERIES, a->padded, m->dy_down, LIG_QUERIES);
}

/* Replaces the scores of a step by the weights, and the gradients of the weights by those of the
 * scores, which are zero in the columns that the step skipped. */
static void
differentiate (const Memory *m, const LigKeyStep *step, float *weights, float *dscores)
{
  for (int32_t k = 0; k < step->count; k++, weights += LIG_QUERIES, dscores += LIG_QUERIES) {
    memset (dscores, 0, (size_t) step->first * sizeof *dscores);
#pragma omp simd
    for (int32_t i = step->first; i < step->end; i++) {
      float weight = lig_decay ((weights[i] - m->lse[i]) - m->lost[i]);
      dscores[i] = weight * (dscores[i] - m->delta[i]);
      weights[i] = weight;
    }
    memset (dscores + step->end, 0, (size_t) (LIG_QUERIES - step->end) * sizeof *dscores);
  }
}

/* Multiplies a step of `values` by `factors`. */
static void
multiply (const LigKeyStep *step, float *values, const float *factors)
{
  for (int32_t k = 0; k < step->count; k++, values += LIG_QUERIES, factors += LIG_QUERIES)
#pragma omp simd
    for (int32_t i = step->first; i < step->end; i++)
      values[i] *= factors[i];
}

/* Computes the weights and gradients of a step, row `at` of the block of keys, and adds to the
 * gradients of its keys and values. */
static void
run_step (const Backward *b,
          const LigQueries *q,
          const Memory *m,
          const LigKeyStep *step,
          int32_t at,
          const Sums *sums)
{
  const LigAttention *a = &b->a;
  const LigAttentionParams *p = a->params;
  int64_t features = p->features, place = at * LIG_QUERIES, columns = step->end - step->first;
  float *weights = m->weights + place, *dscores = m->dscores + place;
  LigTileLeft keys = {m->keys + at * a->padded, a->padded, 1};
  LigTileLeft values = {m->values + at * a->padded, a->padded, 1};
  LIG_CPU (tile_matmul)
  (step->count, columns, features, keys, m->queries_down + step->first, LIG_QUERIES,
   weights + step->first, LIG_QUERIES, false);
  LIG_CPU (tile_matmul)
  (step->count, columns, features, values, m->dy_down + step->first, LIG_QUERIES,
   dscores + step->first, LIG_QUERIES, false);
  if (step->masked || p->softcap > 0 || p->alibi)
    LIG_CPU (attention_adjust) (a, q, step, weights, m->slope + place);
  if (p->dropout > 0) {
    LIG_CPU (attention_kept) (a, q, step, m->kept + place);
    multiply (step, dscores, m->kept + place);
  }
  differentiate (m, step, weights, dscores);
  if (p->softcap > 0)
    multiply (step, dscores, m->slope + place);
  if (p->dropout > 0)
    multiply (step, weights, m->kept + place);
  if (!sums->keys)
    return;
  LigTileLeft right = {weights + step->first, LIG_QUERIES, 1};
  LIG_CPU (tile_matmul)
  (step->count, a->padded, columns, right, m->dy + step->first * a->padded, a->padded,
   sums->values + step->key * sums->row, sums->row, true);
  right.data = dscores + step->first;
  LIG_CPU (tile_matmul)
  (step->count, a->padded, columns, right, m->queries + step->first * a->padded, a->padded,
   sums->keys + step->key * sums->row, sums->row, true);
}

/* Processes one block of queries. */
static void
run_queries (const Backward *b, const LigQueries *q, Memory *m, const Sums *sums)
{
  const LigAttention *a = &b->a;
  int32_t from = q->from > sums->from ? q->from : sums->from;
  int32_t to = q->to < sums->to ? q->to : sums->to;
  if (from >= to && !sums->queries)
    return;
  read_queries (b, q, m);
  for (int32_t key = from; key < to; key += LIG_KEYS) {
    LigKeyStep steps[LIG_KEYS / LIG_STEP];
    int32_t count = (int32_t) lig_min (LIG_KEYS, to - key);
    int32_t n_steps = lig_attention_steps (a, q, key, count, steps);
    if (n_steps == 0)
      continue;
    lig_attention_read_keys (a, q, key, count, m->keys, m->values);
    for (int32_t i = 0; i < n_steps; i++)
      run_step (b, q, m, &steps[i], i * LIG_STEP, sums);
    if (sums->queries)
      lig_attention_add_rows (a, q, key, count, m->dscores, m->keys, m->dqueries);
  }
  int64_t features = a->params->features, element = lig_attention_query (a, q);
  for (int32_t i = 0; sums->queries && i < q->count; i++) {
    float *row = m->dqueries + i * a->padded;
    for (int64_t d = 0; d < features; d++)
      row[d] *= a->params->scale;
    lig_narrow (b->dx->dtype, row, lig_at (b->dx, element + i * b->dx->columns), (size_t) features);
  }
}

/* Returns the cleared sums of the keys [from, to) of one key head in one row of the batch. */
static Sums
begin_sums (const Backward *b, int64_t task, int64_t element, int32_t from, int32_t to)
{
  const LigAttention *a = &b->a;
  Sums sums = {.from = from, .to = to};
  if (!b->dsource->data)
    return sums;
  if (b->sums) {
    sums.row = 2 * a->padded;
    sums.keys = b->sums + task * a->params->memory_length * sums.row;
    sums.values = sums.keys + a->padded;
  } else {
    sums.row = b->dsource->columns;
    sums.keys = (float *) b->dsource->data + element;
    sums.values = sums.keys + a->value_column - a->key_column;
  }
  for (int64_t k = from; k < to; k++) {
    memset (sums.keys + k * sums.row, 0, (size_t) a->padded * sizeof (float));
    memset (sums.values + k * sums.row, 0, (size_t) a->padded * sizeof (float));
  }
  return sums;
}

/* Rounds the sums to the type of their operand. */
static void
end_sums (const Backward *b, const Sums *sums, int64_t element)
{
  int64_t features = b->a.params->features, value = b->a.value_column - b->a.key_column;
  for (int64_t k = sums->from; b->dsource->data && b->sums && k < sums->to; k++) {
    int64_t at = element + k * b->dsource->columns;
    lig_narrow (b->dsource->dtype, sums->keys + k * sums->row, lig_at (b->dsource, at),
                (size_t) features);
    lig_narrow (b->dsource->dtype, sums->values + k * sums->row, lig_at (b->dsource, at + value),
                (size_t) features);
  }
}

/* Computes the gradients of the keys [from, to) of one key head in one row of the batch; with
 * `queries` also those of the queries of its heads. */
static void
run_task (const Backward *b, int64_t task, int32_t from, int32_t to, bool queries, Memory *m)
{
  const LigAttention *a = &b->a;
  const LigAttentionParams *p = a->params;
  int64_t batch = task / p->kv_heads, group = task % p->kv_heads, heads = p->heads / p->kv_heads;
  LigQueries q = {.batch = batch, .group = group};
  int64_t element = lig_attention_key (a, &q, 0);
  Sums sums = begin_sums (b, task, element, from, to);
  sums.queries = queries && b->dx->data;
  for (int64_t head = group * heads; head < (group + 1) * heads; head++)
    for (int32_t block = 0; block < a->blocks; block++) {
      lig_attention_queries (a, batch, head, block * LIG_QUERIES, &q);
      run_queries (b, &q, m, &sums);
    }
  end_sums (b, &sums, element);
}

/* Computes only the gradients of one block of queries. */
static void
run_block (const Backward *b, int64_t block, Memory *m)
{
  const LigAttention *a = &b->a;
  int64_t head = block / a->blocks;
  LigQueries q;
  Sums sums = {.to = a->params->memory_length, .queries = true};
  lig_attention_queries (a, head / a->params->heads, head % a->params->heads,
                         (int32_t) (block % a->blocks) * LIG_QUERIES, &q);
  run_queries (b, &q, m, &sums);
}

/* Runs all tasks on one of the threads. */
static void
run_tasks (const Backward *b, Memory *m)
{
  const LigAttentionParams *p = b->a.params;
  int64_t tasks = b->a.batch * p->kv_heads, blocks = b->a.batch * p->heads * b->a.blocks;
  int64_t parts = (p->memory_length + PART_KEYS - 1) / PART_KEYS;
  if (tasks >= FEW_TASKS || parts == 1) {
#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < tasks; task++)
      run_task (b, task, 0, p->memory_length, true, m);
    return;
  }
#pragma omp for schedule(dynamic) nowait
  for (int64_t part = 0; part < (b->dsource->data ? tasks * parts : 0); part++) {
    int64_t from = part % parts * PART_KEYS, to = lig_min (from + PART_KEYS, p->memory_length);
    run_task (b, part / parts, (int32_t) from, (int32_t) to, false, m);
  }
#pragma omp for schedule(dynamic)
  for (int64_t block = 0; block < (b->dx->data ? blocks : 0); block++)
    run_block (b, block, m);
}

/* Computes dx and dmemory. */
LigStatus
LIG_CPU (attention_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigOperand inputs[] = {o[1], o[2], o[3], o[4]};
  Backward b = {.dy = &o[0], .y = &o[5], .lse = &o[6], .dx = &o[7]};
  LigStatus status = lig_attention_prepare (&b.a, launch, inputs);
  if (status != LIG_OK)
    return status;
  const LigAttentionParams *p = b.a.params;
  b.dsource = b.a.cross ? &o[8] : &o[7];
  int64_t floats = memory_floats (&b.a), tasks = b.a.batch * p->kv_heads, used = 0;
  float *workspace = launch->workspace;
  if (b.dsource->data && !sums_directly (b.dsource, p->features)) {
    b.sums = launch->scratch ? launch->scratch : workspace;
    used = launch->scratch ? 0 : tasks * p->memory_length * 2 * b.a.padded;
  }
  int threads = lig_attention_threads (&b.a, floats, used);
  if (threads < 1)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: the head dim is too large for the workspace; reduce it");
#pragma omp parallel num_threads(threads)
  {
    Memory m = memory_at (&b.a, workspace + used + omp_get_thread_num () * floats);
    run_tasks (&b, &m);
  }
  return LIG_OK;
}
