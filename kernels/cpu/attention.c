/* SPDX-License-Identifier: MIT */
/* Attention over packed rows, exact and blockwise, with a running maximum and sum per query (Dao
 * and others, 2022). Scores exist for only one block of queries and keys at a time. */
#include "kernels/cpu/attention.h"
#include "kernels/cpu/random.h"

/* The memory of one thread. */
typedef struct {
  float *queries; /* transposed: [features, LIG_QUERIES] */
  float *out;     /* [LIG_QUERIES, padded] */
  float *keys, *values;
  float *scores; /* [LIG_KEYS, LIG_QUERIES] */
  float *kept;   /* the same, for dropout */
} Memory;

/* The running values of the queries of a block. */
typedef struct {
  float max[LIG_QUERIES], sum[LIG_QUERIES];
  float raised[LIG_QUERIES], factor[LIG_QUERIES];
} Running;

static int64_t
memory_floats (const LigAttention *a)
{
  return (2 * LIG_QUERIES + 2 * LIG_KEYS) * a->padded + 2 * LIG_KEYS * LIG_QUERIES;
}

static Memory
memory_at (const LigAttention *a, float *free)
{
  Memory m = {.queries = free};
  m.out = m.queries + LIG_QUERIES * a->padded;
  m.keys = m.out + LIG_QUERIES * a->padded;
  m.values = m.keys + LIG_KEYS * a->padded;
  m.scores = m.values + LIG_KEYS * a->padded;
  m.kept = m.scores + LIG_KEYS * LIG_QUERIES;
  return m;
}

void
LIG_CPU (attention_adjust) (
  const LigAttention *a, const LigQueries *q, const LigKeyStep *step, float *scores, float *slope)
{
  const LigAttentionParams *p = a->params;
  const int32_t *documents = lig_attention_documents (a, q);
  float cap = p->softcap, inverse = cap > 0 ? 1 / cap : 0;
  for (int32_t k = 0; k < step->count; k++) {
    int32_t key = step->key + k, document = documents ? documents[key] : INT32_MIN;
    float *s = scores + k * LIG_QUERIES, *d = slope ? slope + k * LIG_QUERIES : NULL;
    float at = (float) (key - q->first) - q->shift;
    if (cap > 0)
#pragma omp simd
      for (int32_t i = step->first; i < step->end; i++)
        s[i] = lig_tanh (s[i] * inverse);
    if (cap > 0 && d)
#pragma omp simd
      for (int32_t i = step->first; i < step->end; i++)
        d[i] = 1 - s[i] * s[i];
    if (cap > 0)
#pragma omp simd
      for (int32_t i = step->first; i < step->end; i++)
        s[i] *= cap;
    if (p->alibi)
#pragma omp simd
      for (int32_t i = step->first; i < step->end; i++)
        s[i] -= q->slope * fabsf (at - (float) i);
    if (step->masked)
#pragma omp simd
      for (int32_t i = step->first; i < step->end; i++)
        s[i] =
          (key >= q->low[i]) & (key < q->high[i]) & (document == q->document[i]) ? s[i] : -INFINITY;
  }
}

/* Generates the dropout mask of the query in column `i` and `count` keys from key `at` of the step
 * on, whose positions are consecutive. */
static void
keep_keys (const LigAttention *a,
           const LigQueries *q,
           const LigKeyStep *step,
           int32_t i,
           int32_t at,
           int32_t count,
           float *kept)
{
  const LigAttentionParams *p = a->params;
  uint64_t threshold = lig_dropout_threshold (p->dropout);
  float scale = p->dropout < 1 ? 1 / (1 - p->dropout) : 0;
  uint64_t number =
    lig_attention_number (a, q, i) + (uint64_t) lig_attention_key_position (p, step->key + at);
  uint64_t end = number + (uint64_t) count;
  kept += at * LIG_QUERIES + i;
  for (uint64_t e = number / 4 * 4; e < end; e += 4) {
    uint32_t words[4];
    lig_random_words (a->tick->seed, e / 4, p->path_hash, a->tick->micro_step, words);
    for (uint64_t w = 0; w < 4; w++)
      if (e + w >= number && e + w < end)
        kept[(int64_t) (e + w - number) * LIG_QUERIES] = words[w] >= threshold ? scale : 0;
  }
}

static void
keep_query (
  const LigAttention *a, const LigQueries *q, const LigKeyStep *step, int32_t i, float *kept)
{
  int32_t half = a->params->key_half - step->key;
  int32_t first = half < 0 ? 0 : half < step->count ? half : step->count;
  if (first > 0)
    keep_keys (a, q, step, i, 0, first, kept);
  if (first < step->count)
    keep_keys (a, q, step, i, first, step->count - first, kept);
}

/* Generates the masks of several queries from `i` on, if the quads are aligned with the step. */
static void
keep_queries (
  const LigAttention *a, const LigQueries *q, const LigKeyStep *step, int32_t i, float *kept)
{
  const LigAttentionParams *p = a->params;
  uint64_t threshold = lig_dropout_threshold (p->dropout);
  float scale = p->dropout < 1 ? 1 / (1 - p->dropout) : 0;
  LigLanes first, words[4];
  for (int lane = 0; lane < LIG_LANES; lane++)
    first[lane] = lig_attention_number (a, q, i + lane) / 4;
  for (int32_t k = 0; k < step->count; k += 4) {
    LigLanes quad = first + (uint64_t) lig_attention_key_position (p, step->key + k) / 4;
    lig_random_lanes (a->tick->seed, quad, p->path_hash, a->tick->micro_step, words);
    for (int32_t w = 0; w < 4 && k + w < step->count; w++)
      for (int lane = 0; lane < LIG_LANES; lane++)
        kept[(k + w) * LIG_QUERIES + i + lane] = (uint32_t) words[w][lane] >= threshold ? scale : 0;
  }
}

void
LIG_CPU (attention_kept) (const LigAttention *a,
                          const LigQueries *q,
                          const LigKeyStep *step,
                          float *kept)
{
  const LigAttentionParams *p = a->params;
  bool whole = step->key % 4 == 0 && lig_attention_width (p) % 4 == 0 && p->key_half % 4 == 0 &&
               p->key_shift[0] % 4 == 0 && p->key_shift[1] % 4 == 0;
  for (int32_t i = step->first; i < step->end; i += whole ? LIG_LANES : 1)
    if (whole)
      keep_queries (a, q, step, i, kept);
    else
      keep_query (a, q, step, i, kept);
}

/* Computes the scores of a step, and updates the maxima of its queries. */
static void
score (const LigAttention *a,
       const LigQueries *q,
       const Memory *m,
       const LigKeyStep *step,
       int32_t at,
       float *raised)
{
  float *scores = m->scores + at * LIG_QUERIES;
  LigTileLeft keys = {m->keys + at * a->padded, a->padded, 1};
  LIG_CPU (tile_matmul)
  (step->count, step->end - step->first, a->params->features, keys, m->queries + step->first,
   LIG_QUERIES, scores + step->first, LIG_QUERIES, false);
  if (step->masked || a->params->softcap > 0 || a->params->alibi)
    LIG_CPU (attention_adjust) (a, q, step, scores, NULL);
  for (int32_t k = 0; k < step->count; k++, scores += LIG_QUERIES)
#pragma omp simd
    for (int32_t i = step->first; i < step->end; i++)
      raised[i] = scores[i] > raised[i] ? scores[i] : raised[i];
}

/* Replaces the scores of a step by their exponentials, which are zero in the columns that it
 * skipped, and sums these. */
static void
raise_to_power (const LigKeyStep *step, float *scores, const float *max, float *sum)
{
  for (int32_t k = 0; k < step->count; k++, scores += LIG_QUERIES) {
    memset (scores, 0, (size_t) step->first * sizeof *scores);
#pragma omp simd
    for (int32_t i = step->first; i < step->end; i++) {
      float e = lig_decay (scores[i] - max[i]);
      scores[i] = e;
      sum[i] += e;
    }
    memset (scores + step->end, 0, (size_t) (LIG_QUERIES - step->end) * sizeof *scores);
  }
}

/* Rescales the sums after the maxima have increased. A query that has seen no key has the maximum 0
 * from here on, so that no infinities are subtracted. */
static void
rescale (const LigAttention *a, const LigQueries *q, const Memory *m, Running *r)
{
#pragma omp simd
  for (int32_t i = 0; i < LIG_QUERIES; i++) {
    float raised = r->raised[i] == -INFINITY ? 0 : r->raised[i];
    r->factor[i] = lig_decay (raised - r->max[i]);
    r->max[i] = r->raised[i];
    r->raised[i] = raised;
    r->sum[i] *= r->factor[i];
  }
  for (int32_t i = 0; i < q->count; i++) {
    float factor = r->factor[i], *out = m->out + i * a->padded;
    if (factor == 1)
      continue;
#pragma omp simd
    for (int64_t d = 0; d < a->padded; d++)
      out[d] *= factor;
  }
}

/* Processes one block of keys. */
static void
attend (const LigAttention *a, const LigQueries *q, const Memory *m, Running *r, int32_t key)
{
  LigKeyStep steps[LIG_KEYS / LIG_STEP];
  int32_t count = (int32_t) lig_min (LIG_KEYS, q->to - key);
  int32_t n_steps = lig_attention_steps (a, q, key, count, steps);
  if (n_steps == 0)
    return;
  lig_attention_read_keys (a, q, key, count, m->keys, m->values);
  memcpy (r->raised, r->max, sizeof r->raised);
  for (int32_t i = 0; i < n_steps; i++)
    score (a, q, m, &steps[i], i * LIG_STEP, r->raised);
  rescale (a, q, m, r);
  for (int32_t i = 0; i < n_steps; i++) {
    float *scores = m->scores + i * LIG_STEP * LIG_QUERIES;
    raise_to_power (&steps[i], scores, r->raised, r->sum);
    if (a->params->dropout > 0) {
      float *kept = m->kept + i * LIG_STEP * LIG_QUERIES;
      LIG_CPU (attention_kept) (a, q, &steps[i], kept);
      for (int32_t k = 0; k < steps[i].count; k++)
        for (int32_t c = steps[i].first; c < steps[i].end; c++)
          scores[k * LIG_QUERIES + c] *= kept[k * LIG_QUERIES + c];
    }
  }
  lig_attention_add_rows (a, q, key, count, m->scores, m->values, m->out);
}

/* Divides the outputs of a block by their sums and stores them. */
static void
store (const LigAttention *a,
       const LigQueries *q,
       const Memory *m,
       const Running *r,
       const LigOperand *y,
       const LigOperand *lse)
{
  int64_t element = lig_attention_output (a, q), statistic = lig_attention_statistic (a, q);
  int64_t count = a->batch * a->params->heads * a->params->length;
  for (int32_t i = 0; i < q->count; i++) {
    float *out = m->out + i * a->padded, inverse = r->sum[i] > 0 ? 1 / r->sum[i] : 0;
    for (int64_t d = 0; d < a->padded; d++)
      out[d] *= inverse;
    if (y->data)
      lig_narrow (y->dtype, out, lig_at (y, element + i * y->columns),
                  (size_t) a->params->features);
    if (lse->data)
      lig_attention_store (lse->data, count, statistic + i,
                           r->sum[i] > 0 ? (double) r->max[i] + (double) logf (r->sum[i]) : 0);
  }
}

/* Computes one block of queries. */
static void
run_block (const LigAttention *a, int64_t number, const Memory *m, const LigOperand *outputs)
{
  const LigAttentionParams *p = a->params;
  LigQueries q;
  Running r;
  int64_t block = a->blocks - 1 - number / (a->batch * p->heads),
          rest = number % (a->batch * p->heads);
  lig_attention_queries (a, rest / p->heads, rest % p->heads, (int32_t) block * LIG_QUERIES, &q);
  for (int32_t i = 0; i < LIG_QUERIES; i++) {
    r.max[i] = -INFINITY;
    r.sum[i] = 0;
  }
  /* The memory of the outputs holds the queries until they are transposed. */
  memset (m->out, 0, (size_t) (LIG_QUERIES * a->padded) * sizeof *m->out);
  lig_attention_widen_queries (a, &q, a->x, lig_attention_query (a, &q), m->out);
  for (int64_t i = 0; i < q.count * a->padded; i++)
    m->out[i] *= p->scale;
  LIG_CPU (tile_transpose) (m->out, a->padded, LIG_QUERIES, a->padded, m->queries, LIG_QUERIES);
  memset (m->out, 0, (size_t) (LIG_QUERIES * a->padded) * sizeof *m->out);
  for (int32_t key = q.from; key < q.to; key += LIG_KEYS)
    attend (a, &q, m, &r, key);
  store (a, &q, m, &r, &outputs[0], &outputs[1]);
}

/* Computes y and lse. */
static LigStatus
run_blocks (LigLaunch *launch, const LigAttention *a, const LigOperand *outputs)
{
  int64_t floats = memory_floats (a), blocks = a->blocks * a->batch * a->params->heads;
  int threads = lig_attention_threads (a, floats, 0);
  if (threads < 1)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: the head dim is too large for the workspace; reduce it");
  float *workspace = launch->workspace;
#pragma omp parallel num_threads(threads)
  {
    Memory m = memory_at (a, workspace + omp_get_thread_num () * floats);
#pragma omp for schedule(dynamic)
    for (int64_t block = 0; block < blocks; block++)
      run_block (a, block, &m, outputs);
  }
  return LIG_OK;
}

LigStatus
LIG_CPU (attention) (LigLaunch *launch)
{
  LigAttention a;
  LigStatus status = lig_attention_prepare (&a, launch, launch->operands);
  return status == LIG_OK ? run_blocks (launch, &a, &launch->operands[4]) : status;
}

/* Copies the keys and values of packed rows to their places in the cache. */
static void
append (const LigAttention *a)
{
  const LigAttentionParams *p = a->params;
  int64_t columns = a->source->columns, column = a->x->columns - columns, rows = lig_rows (a->x);
  size_t bytes = (size_t) columns * lig_dtype_size (a->x->dtype);
#pragma omp parallel for schedule(static) if (rows * columns > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++) {
    LigQueries q = {.batch = row / p->length};
    int64_t position = a->lengths[q.batch] - p->length + row % p->length;
    if (position >= 0 && (position < p->memory_length || p->memory_length % LIG_CACHE_UNIT == 0))
      memcpy (lig_at (a->source, lig_attention_key (a, &q, (int32_t) position)),
              lig_at (a->x, row * a->x->columns + column), bytes);
  }
}

/* Describes the queries of packed rows and the keys of a cache. */
static LigStatus
prepare_cached (LigAttention *a, LigLaunch *launch)
{
  const LigAttentionParams *p = launch->params;
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[4];
  int64_t queries = (int64_t) p->heads * p->features, values = (int64_t) p->kv_heads * p->features;
  *a = (LigAttention){.params = p,
                      .tick = launch->tick,
                      .x = x,
                      .source = cache,
                      .lengths = launch->operands[1].data,
                      .slots = launch->operands[2].data,
                      .n_slots = lig_rows (cache) / (p->memory_length > 0 ? p->memory_length : 1),
                      .cross = true,
                      .batch = lig_rows (x) / (p->length > 0 ? p->length : 1),
                      .padded = lig_tile_padded (p->features),
                      .value_column = values,
                      .blocks = (p->length + LIG_QUERIES - 1) / LIG_QUERIES};
  if (!lig_dtype_is_floating (x->dtype) || cache->dtype != x->dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "attention: not one floating type; convert to fp32, fp16 or bf16");
  if (p->heads % p->kv_heads != 0 || lig_rows (x) != a->batch * p->length || a->n_slots < 1 ||
      x->columns != queries + (p->mask == LIG_MASK_NONE ? 0 : 2 * values) ||
      cache->columns != 2 * values)
    return LIG_FAIL (launch, LIG_FAILED, "attention: the heads do not fit the rows; correct them");
  return LIG_OK;
}

/* Computes y and lse of texts in progress, after their new keys and values are in the cache. */
LigStatus
LIG_CPU (attention_cached) (LigLaunch *launch)
{
  LigAttention a;
  LigOperand outputs[2] = {launch->operands[3], launch->operands[5]};
  LigStatus status = prepare_cached (&a, launch);
  if (status != LIG_OK)
    return status;
  if (a.params->mask != LIG_MASK_NONE)
    append (&a);
  return a.params->length <= LIG_FEW_QUERIES ? LIG_CPU (attention_few) (launch, &a, outputs)
                                             : run_blocks (launch, &a, outputs);
}
