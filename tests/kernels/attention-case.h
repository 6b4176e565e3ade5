/* SPDX-License-Identifier: MIT */
/* An attention problem: its operands, a plain reference in double precision, and the calls of its
 * kernels. */
#pragma once

#include "tests/kernels/case.h"

#include "kernels/formulas.h"
#include <ligature/params-attention.h>
#include <ligature/params-sinks.h>

typedef struct {
  LigAttentionParams params;
  int batch;
  bool cross, with_lengths, with_documents, with_sinks;
  LigDtype dtype;
} Shape;

/* A problem: its operands, and their values for the reference. */
typedef struct {
  Shape shape;
  LigOperand x, memory, lengths, documents, dy, sinks;
  double *xs, *memories, *dys, *numbers;
} Problem;

typedef struct {
  double *y, *lse, *dx, *dmemory, *dsinks;
} Reference;

typedef struct {
  LigOperand y, lse, dx, dmemory, dsinks;
} Results;

static const LigTick tick = {.seed = 0x123456789abcdefu, .micro_step = 3};

static inline int64_t
x_columns (const Shape *s)
{
  return (s->params.heads + (s->cross ? 0 : 2 * s->params.kv_heads)) * (int64_t) s->params.features;
}

static inline int64_t
memory_columns (const Shape *s)
{
  return 2 * s->params.kv_heads * (int64_t) s->params.features;
}

static inline LigOperand
random_integers (int64_t count, int32_t min, int32_t max, bool ascending)
{
  LigOperand operand = blank (LIG_INT32, 1, count);
  int32_t *values = operand.data, last = min;
  for (int64_t i = 0; i < count; i++) {
    double share = fabs (random_value ()) / 2;
    values[i] = min + (int32_t) (share * (max - min + 1));
    if (ascending)
      values[i] = last += share > 0.8;
  }
  return operand;
}

static inline Problem
problem (Shape shape)
{
  const LigAttentionParams *p = &shape.params;
  int64_t queries = (int64_t) shape.batch * p->length;
  int64_t keys = (int64_t) shape.batch * p->memory_length;
  Problem r = {.shape = shape};
  r.x = random_tensor (shape.dtype, queries, x_columns (&shape));
  r.memory = shape.cross ? random_tensor (shape.dtype, keys, memory_columns (&shape))
                         : absent (shape.dtype, keys, memory_columns (&shape));
  r.lengths = absent (LIG_INT32, 1, shape.batch);
  if (shape.with_lengths)
    r.lengths = random_integers (shape.batch, 0, p->memory_length, false);
  r.documents = absent (LIG_INT32, shape.batch, p->length);
  if (shape.with_documents)
    r.documents = random_integers (queries, -1, 1, true);
  r.documents.columns = p->length;
  r.dy = random_tensor (shape.dtype, queries, p->heads * (int64_t) p->features);
  r.xs = wide (r.x);
  r.memories = shape.cross ? wide (r.memory) : NULL;
  r.dys = wide (r.dy);
  if (!shape.with_sinks)
    return r;
  r.sinks = random_tensor (shape.dtype, 1, p->heads);
  r.numbers = wide (r.sinks);
  return r;
}

/* Returns whether query i sees key j, directly from the definitions. */
static inline bool
sees (const Problem *r, int64_t b, int i, int j)
{
  const LigAttentionParams *p = &r->shape.params;
  const int32_t *lengths = r->lengths.data, *documents = r->documents.data;
  int keys = lengths ? lengths[b] : p->memory_length;
  int queries = lengths && !r->shape.cross ? lengths[b] : p->length;
  int at = p->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? i + keys - queries : i;
  if (i >= queries || j >= keys)
    return false;
  if (p->mask != LIG_MASK_NONE && j > at)
    return false;
  if (p->window > 0 && (j <= at - p->window || j >= at + p->window))
    return false;
  return !documents || documents[b * p->length + i] == documents[b * p->length + j];
}

static inline double
position (const Problem *r, int64_t b, int i)
{
  const LigAttentionParams *p = &r->shape.params;
  const int32_t *lengths = r->lengths.data;
  if (p->mask != LIG_MASK_CAUSAL_BOTTOM_RIGHT || !r->shape.cross)
    return i;
  return i + (lengths ? lengths[b] : p->memory_length) - p->length;
}

static inline double
alibi_slope (int h, int heads)
{
  int n = 1;
  while (n * 2 <= heads)
    n *= 2;
  return h < n ? pow (2, -8.0 * (h + 1) / n) : pow (2, -4.0 * (2 * (h - n) + 1) / n);
}

/* Returns the factor by which dropout multiplies a weight. */
static inline double
kept (const Problem *r, int64_t b, int h, int i, int j)
{
  const LigAttentionParams *p = &r->shape.params;
  uint64_t rows = (uint64_t) (p->whole ? p->whole : p->length);
  uint64_t width = (uint64_t) (p->whole ? p->whole : p->memory_length);
  if (p->whole) {
    i += p->query_shift[i < p->query_half ? 0 : 1];
    j += p->key_shift[j < p->key_half ? 0 : 1];
  }
  uint64_t e = (((uint64_t) b * (uint64_t) p->heads + (uint64_t) h) * rows + (uint64_t) i) * width +
               (uint64_t) j;
  uint32_t words[4];
  if (p->dropout <= 0)
    return 1;
  lig_random_words (tick.seed, e / 4, p->path_hash, tick.micro_step, words);
  return words[e % 4] >= (double) p->dropout * 4294967296.0 ? 1 / (1 - (double) p->dropout) : 0;
}

/* The rows of one query and of the keys and values of its head. */
typedef struct {
  const double *query, *keys, *values;
  double *dquery, *dkeys, *dvalues;
  int64_t step;
} Rows;

static inline Rows
rows_of (const Problem *r, const Reference *to, const double *xs, int64_t b, int h, int i)
{
  const LigAttentionParams *p = &r->shape.params;
  int64_t wide_x = x_columns (&r->shape), features = p->features, g = h / (p->heads / p->kv_heads);
  int64_t query = (b * p->length + i) * wide_x + h * features;
  bool cross = r->shape.cross;
  int64_t step = cross ? memory_columns (&r->shape) : wide_x;
  int64_t key = b * p->memory_length * step + (cross ? g : p->heads + g) * features;
  int64_t value = key + p->kv_heads * features;
  const double *source = cross ? r->memories : xs;
  double *dsource = cross ? to->dmemory : to->dx;
  return (Rows){xs + query,      source + key, source + value, to->dx + query, dsource + key,
                dsource + value, step};
}

/* Computes one query, and accumulates the gradients. */
LIG_REFERENCE void
reference_query (const Problem *r, const Reference *to, const double *xs, int64_t b, int h, int i)
{
  const LigAttentionParams *p = &r->shape.params;
  Rows rows = rows_of (r, to, xs, b, h, i);
  int64_t out = ((b * p->length + i) * p->heads + h) * p->features;
  double *weights = g_new0 (double, p->memory_length), *slopes = g_new0 (double, p->memory_length);
  double max = -INFINITY, sum = 0, delta = 0, cap = (double) p->softcap;
  for (int j = 0; j < p->memory_length; j++) {
    weights[j] = -INFINITY;
    if (!sees (r, b, i, j))
      continue;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (int d = 0; d < p->features; d++)
      s += rows.query[d] * rows.keys[j * rows.step + d];
    s *= (double) p->scale;
    slopes[j] = (double) p->scale * (cap > 0 ? 1 - pow (tanh (s / cap), 2) : 1);
    s = cap > 0 ? cap * tanh (s / cap) : s;
    weights[j] = s - (p->alibi ? alibi_slope (h, p->heads) * fabs (j - position (r, b, i)) : 0);
    max = fmax (max, weights[j]);
  }
  bool blind = max == -INFINITY;
  if (r->numbers && !blind) {
    max = fmax (max, r->numbers[h]);
    sum = exp (r->numbers[h] - max);
  }
  for (int j = 0; j < p->memory_length; j++)
    sum += weights[j] = max > -INFINITY ? exp (weights[j] - max) : 0;
  to->lse[(b * p->heads + h) * p->length + i] = sum > 0 ? max + log (sum) : 0;
  /* That of a query that sees no key is 0 before the sink is added, and is not used. */
  if (r->numbers && blind)
    to->lse[(b * p->heads + h) * p->length + i] = log1p (exp (r->numbers[h]));
  for (int j = 0; j < p->memory_length && sum > 0; j++) {
    if (weights[j] <= 0)
      continue;
    double weight = (weights[j] /= sum) * kept (r, b, h, i, j);
    for (int d = 0; d < p->features; d++) {
      to->y[out + d] += weight * rows.values[j * rows.step + d];
      rows.dvalues[j * rows.step + d] += weight * r->dys[out + d];
    }
  }
  for (int d = 0; d < p->features; d++)
    delta += to->y[out + d] * r->dys[out + d];
  if (r->numbers && !blind)
    to->dsinks[h] -= exp (r->numbers[h] - max) / sum * delta;
  for (int j = 0; j < p->memory_length && sum > 0; j++) {
    if (weights[j] <= 0)
      continue;
    double dweight = 0;
#pragma omp simd reduction(+ : dweight)
    for (int d = 0; d < p->features; d++)
      dweight += r->dys[out + d] * rows.values[j * rows.step + d];
    double ds = weights[j] * (dweight * kept (r, b, h, i, j) - delta) * slopes[j];
    for (int d = 0; d < p->features; d++) {
      rows.dquery[d] += ds * rows.keys[j * rows.step + d];
      rows.dkeys[j * rows.step + d] += ds * rows.query[d];
    }
  }
  g_free (weights);
  g_free (slopes);
}

static inline Reference
reference (const Problem *r, const double *xs)
{
  const LigAttentionParams *p = &r->shape.params;
  Reference to = {doubles (r->dy.size),
                  doubles (2 * (int64_t) r->shape.batch * p->heads * p->length),
                  doubles (r->x.size), doubles (r->memory.size), doubles (p->heads)};
  for (int64_t b = 0; b < r->shape.batch; b++)
    for (int h = 0; h < p->heads; h++)
      for (int i = 0; i < p->length; i++)
        reference_query (r, &to, xs, b, h, i);
  return to;
}

/* Runs a kernel with the scratch memory that it requests. */
static inline void
run_attention (const char *name, const LigOperand *operands, const void *params)
{
  static void *workspace;
  const LigKernel *kernel = lig_kernel_find (name);
  if (!workspace)
    workspace = g_aligned_alloc0 (LIG_WORKSPACE_SIZE, 1, 256);
  memset (workspace, 0xff, LIG_WORKSPACE_SIZE / 16);
  LigLaunch launch = {
    .operands = operands, .params = params, .tick = &tick, .workspace = workspace};
  int64_t bytes = lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU);
  launch.scratch = bytes > 0 ? scratch ((size_t) bytes) : NULL;
  if (bytes > 0)
    memset (launch.scratch, 0xff, (size_t) bytes);
  LigStatus status = kernel->functions[LIG_BACKEND_CPU](&launch);
  if (status != LIG_OK)
    g_error ("%s: %s", name, launch.where);
}

static inline Results
compute (const Problem *r)
{
  const LigAttentionParams *p = &r->shape.params;
  Results to = {blank (r->shape.dtype, r->dy.size / r->dy.columns, r->dy.columns),
                blank (LIG_FP32, 2 * (int64_t) r->shape.batch * p->heads, p->length),
                blank (r->shape.dtype, r->x.size / r->x.columns, r->x.columns),
                blank (r->shape.dtype, r->memory.size / r->memory.columns, r->memory.columns),
                blank (r->shape.dtype, 1, p->heads)};
  const LigSinksParams sinks = {p->heads, p->features, p->length};
  if (!r->shape.cross)
    to.dmemory.data = NULL;
  run_attention ("attention",
                 (LigOperand[]){r->x, r->memory, r->lengths, r->documents, to.y, to.lse}, p);
  if (r->shape.with_sinks)
    run_attention ("attention_sinks", (LigOperand[]){to.y, to.lse, r->sinks, to.y, to.lse}, &sinks);
  run_attention ("attention_backward",
                 (LigOperand[]){r->dy, r->x, r->memory, r->lengths, r->documents, to.y, to.lse,
                                to.dx, to.dmemory},
                 p);
  if (r->shape.with_sinks)
    run_attention ("attention_sinks_backward",
                   (LigOperand[]){r->dy, to.y, to.lse, r->sinks, to.dsinks}, &sinks);
  return to;
}
