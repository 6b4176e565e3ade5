/* SPDX-License-Identifier: MIT */
/* Softmax attention over packed query, key and value heads, or cross attention of queries to a
 * memory. */
#include "engine/ops/define.h"
#include <ligature/params-attention.h>
#include <ligature/params-sinks.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
  LigAttentionParams kernel;
  gint64 heads, kv_heads;
  LigHeads packed;
  LigScores scores;
  int32_t block;
} AttentionParams;

enum { LENGTHS, DOCUMENTS, MEMORY };
enum { ALL, FIRST, SECOND };

#define INPUT(slot, name, label, help) \
  { \
    LIG_PARAM_INPUT, name, label, help, 0, 0, 0, 0, slot, NULL \
  }

static const LigParam params[] = {
  LIG_HEADS (AttentionParams, heads),
  LIG_KV_HEADS (AttentionParams, kv_heads),
  LIG_SCORE_PARAMS (AttentionParams, scores),
  LIG_FLOAT (AttentionParams,
             kernel.dropout,
             "dropout",
             N_ ("Dropout"),
             N_ ("Dropout probability of attention weights in training"),
             0,
             1,
             0),
  INPUT (LENGTHS,
         "lengths",
         N_ ("Lengths"),
         N_ ("Channel of the sequence lengths of padded "
             "rows")),
  INPUT (DOCUMENTS,
         "documents",
         N_ ("Documents"),
         N_ ("Channel of document ids; attention stays within a document")),
  INPUT (MEMORY,
         "memory",
         N_ ("Memory"),
         N_ ("Channel of packed keys and values; the input then has only queries")),
  LIG_CHOICE (AttentionParams,
              block,
              "block",
              N_ ("Block"),
              N_ ("Which half of a context-parallel rank's tokens the queries are"),
              "all|first|second",
              ALL),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = LIG_SINKS_PARAMETERS;

static const LigParamGroup groups[] = {
  {N_ ("Sizes"), "heads kv-heads"},
  {N_ ("Attention"), "scale softcap sinks dropout memory"},
  {N_ ("Masks"), "mask window lengths documents"},
  {N_ ("Positions"), "alibi block"},
  {.title = NULL},
};

/* Checks the memory, and sets its number of keys; one that the caller provides is as long as x by
 * default. */
static gboolean
check_memory (LigInfer *self, LigAttentionParams *kernel, GError **error)
{
  LigShape wanted = lig_shape_without (&self->x, 2);
  const LigShape *memory = &self->extra_inputs[MEMORY];
  gint64 keys = memory->n_axes >= 2 ? memory->axes[memory->n_axes - 2] : kernel->length;
  if (self->present[DOCUMENTS]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("it has documents and memory, expected one of them at most"));
    return FALSE;
  }
  if (keys > LIG_MAX_POSITIONS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("memory has %" PRId64 " positions, expected at most %d"), keys,
                 LIG_MAX_POSITIONS);
    return FALSE;
  }
  kernel->memory_length = (int32_t) keys;
  wanted.axes[wanted.n_axes++] = keys;
  wanted.axes[wanted.n_axes++] = 2 * (gint64) kernel->kv_heads * kernel->features;
  return lig_check_extra (self, MEMORY, "memory", &wanted, self->compute, error);
}

/* Sets the positions of queries that are one block of a rank and see the keys of whole
 * sequences. */
static gboolean
find_block (const LigInfer *self, int32_t block, LigAttentionParams *kernel, GError **error)
{
  static const char *const names[] = {"all", "first", "second"};
  int ranks = self->n_ranks[LIG_GROUP_CONTEXT], rank = self->places[LIG_GROUP_CONTEXT];
  gint64 number = block == FIRST ? rank : 2 * ranks - 1 - rank;
  if (block == ALL)
    return TRUE;
  if (ranks == 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("block=%s is set by context parallelism only; omit it"), names[block]);
    return FALSE;
  }
  kernel->whole = 2 * ranks * kernel->length;
  kernel->query_shift[1] = (int32_t) number * kernel->length;
  return TRUE;
}

/* Returns how many positions of a text the cache keeps. The first query of a chunk sees a window of
 * keys before those that the chunk appends. */
static gint64
count_kept (const LigInfer *self, gint64 window)
{
  gint64 kept = window + self->cache_chunk - 1;
  kept = (kept + LIG_CACHE_UNIT - 1) / LIG_CACHE_UNIT * LIG_CACHE_UNIT;
  return window > 0 && self->cache_chunk > 0 ? MIN (kept, self->cache_length) : self->cache_length;
}

/* The queries are the newest tokens of a text, whose keys and values the cache holds. */
static gboolean
use_cache (LigInfer *self, const LigHeads *packed, LigAttentionParams *kernel, GError **error)
{
  static const char *const names[] = {"lengths", "documents"};
  gboolean cross = self->present[MEMORY];
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (self->present[i]) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                   _ ("it reads %s, which a cache does not serve; omit them"), names[i]);
      return FALSE;
    }
  if (cross && (kernel->mask != LIG_MASK_NONE || kernel->window > 0 || kernel->alibi)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("which keys of the memory it sees depends on the position; a cache needs "
                    "mask=none without window or alibi"));
    return FALSE;
  }
  self->cached_positions = cross ? self->cache_memory : count_kept (self, kernel->window);
  kernel->memory_length = (int32_t) self->cached_positions;
  kernel->mask = cross ? LIG_MASK_NONE : LIG_MASK_CAUSAL_BOTTOM_RIGHT;
  self->cached = 2 * (gint64) packed->kv_heads * packed->features;
  return TRUE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  AttentionParams *values = (AttentionParams *) self->params;
  LigAttentionParams *kernel = &values->kernel;
  gboolean cross = self->present[MEMORY];
  LigHeads packed;
  LigShape batch = lig_shape_without (&self->x, 2), rows = lig_shape_without (&self->x, 1);
  if (!lig_check_batch (self, error) || !lig_check_order (self, MEMORY, "memory", error) ||
      !lig_infer_heads (self, values->heads, values->kv_heads, cross, &packed, error))
    return FALSE;
  values->packed = packed;
  kernel->heads = packed.heads;
  kernel->kv_heads = packed.kv_heads;
  kernel->all_heads = kernel->first_head = 0;
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS) {
    kernel->all_heads = (int32_t) values->heads;
    kernel->first_head = self->rank * packed.heads;
    self->y_sharding.sections = (LigSections){1, {values->heads * packed.features}};
  }
  lig_infer_sinks (self, values->scores.sinks, values->heads, &packed);
  kernel->features = packed.features;
  kernel->length = kernel->memory_length = packed.length;
  kernel->mask = values->scores.mask;
  kernel->window = (int32_t) values->scores.window;
  kernel->softcap = values->scores.softcap;
  kernel->alibi = values->scores.alibi;
  kernel->scale =
    values->scores.scale > 0 ? values->scores.scale : 1 / sqrtf ((float) packed.features);
  if (!lig_check_extra (self, LENGTHS, "lengths", &batch, LIG_INT32, error) ||
      !lig_check_extra (self, DOCUMENTS, "documents", &rows, LIG_INT32, error) ||
      (cross && !check_memory (self, kernel, error)))
    return FALSE;
  if (!find_block (self, values->block, kernel, error))
    return FALSE;
  self->extra_ranges[LENGTHS] = (LigRange){0, kernel->memory_length, 0};
  if (self->cache_length > 0 && !use_cache (self, &packed, kernel, error))
    return FALSE;
  self->y.axes[self->y.n_axes - 1] = (gint64) packed.heads * packed.features;
  batch.axes[batch.n_axes++] = packed.heads;
  batch.axes[batch.n_axes++] = packed.length;
  /* Two halves: see kernel-list.h. */
  batch.axes[0] *= 2;
  self->kept[0] = batch;
  return TRUE;
}

/* Both blocks use the RNG stream of the attention op that was expanded to them; only the second one
 * has a name. */
static void
place (void *values, const char *path)
{
  AttentionParams *self = values;
  const char *last = self->block == SECOND ? strrchr (path, '.') : NULL;
  g_autofree char *whole = last ? g_strndup (path, (gsize) (last - path)) : g_strdup (path);
  self->kernel.path_hash = (guint32) lig_hash_path (whole);
}

/* --- Sinks --------------------------------------------------------------------------------- */

void
lig_infer_sinks (LigInfer *infer, gboolean sinks, gint64 heads, const LigHeads *packed)
{
  infer->n_parameters = sinks ? 1 : 0;
  lig_shape_init (&infer->parameters[0], 1, (gint64) packed->heads);
  if (infer->x_sharding.kind == LIG_SHARDING_COLUMNS)
    infer->parameter_shardings[0] = (LigParameterSharding){0, {1, {heads}}, LIG_GROUP_TENSOR};
}

void
lig_lower_before_sinks (LigLowering *lowering)
{
  lig_lower_value_like (lowering, "all", "y");
  lig_lower_value_like (lowering, "all_lse", "lse");
}

void
lig_lower_sinks (LigLowering *lowering, const LigHeads *packed)
{
  const LigSinksParams sinks = {packed->heads, packed->features, packed->length};
  lig_lower_kernel (lowering, "attention_sinks", "x=all x_lse=all_lse", &sinks, sizeof sinks);
}

void
lig_lower_sinks_backward (LigLowering *lowering, const LigHeads *packed)
{
  const LigSinksParams sinks = {packed->heads, packed->features, packed->length};
  lig_lower_kernel (lowering, "attention_sinks_backward", NULL, &sinks, sizeof sinks);
}

/* --- Lowering ------------------------------------------------------------------------------ */

/* Emits attention of texts in progress, whose results are `outputs`. */
static void
lower_cached (LigLowering *lowering, const LigAttentionParams *values, const char *outputs)
{
  gboolean cross = lig_lower_has (lowering, "memory");
  g_autofree char *bindings = g_strdup_printf ("cache=$cache lengths=%s slots=$slots %s",
                                               cross ? "$sources" : "$lengths", outputs);
  lig_lower_kernel (lowering, "attention_cached", bindings, values, sizeof *values);
}

static void
lower_forward (LigLowering *lowering)
{
  const AttentionParams *own = lig_lower_params (lowering, 0);
  LigAttentionParams values = own->kernel;
  const char *outputs = own->scores.sinks ? "y=all lse=all_lse" : "y=y lse=lse";
  if (!lig_lower_is_training (lowering))
    values.dropout = 0;
  if (own->scores.sinks)
    lig_lower_before_sinks (lowering);
  if (lig_lower_has (lowering, "$slots"))
    lower_cached (lowering, &values, outputs);
  else
    lig_lower_kernel (lowering, "attention", outputs, &values, sizeof values);
  if (own->scores.sinks)
    lig_lower_sinks (lowering, &own->packed);
}

static void
lower_backward (LigLowering *lowering)
{
  const AttentionParams *own = lig_lower_params (lowering, 0);
  lig_lower_kernel (lowering, "attention_backward", NULL, NULL, 0);
  if (own->scores.sinks)
    lig_lower_sinks_backward (lowering, &own->packed);
}

static LigPositions
find_positions (const void *own, const LigShape *x, const LigShape *y, const char **reason)
{
  const AttentionParams *self = own;
  if (self->scores.mask != LIG_MASK_NONE)
    return LIG_POSITIONS_EARLIER;
  *reason = N_ ("mask is none, so that a new token changes those before it");
  return LIG_POSITIONS_ALL;
}

/* --- ONNX ---------------------------------------------------------------------------------- */

/* The values of an ONNX graph from which attention is computed. Scores are [.., G, R, T, S] for G
 * heads of keys, R heads of queries for each of them, T queries and S keys, which broadcasts the
 * keys. */
typedef struct {
  LigOnnx *onnx;
  const AttentionParams *params;
  int n_axes;                /* of x */
  const char *i, *j, *shift; /* positions [T, 1] and [S]; that of the first query, or null */
  const char *lengths;       /* [.., 1, 1, 1, 1], or null */
  const char *allowed;       /* whether a query sees a key; null: it sees all */
} Scores;

/* Returns a value with the axes of the scores, from one with those of the batch and `own` others,
 * of which the first are [T] and the last [S]. */
static const char *
spread (const Scores *s, const char *value, gboolean queries, gboolean keys)
{
  int at = s->n_axes - 2;
  const char *axes =
    queries ? lig_onnx_integers (s->onnx, 3, (gint64) at, (gint64) at + 1, (gint64) at + 3)
    : keys  ? lig_onnx_integers (s->onnx, 3, (gint64) at, (gint64) at + 1, (gint64) at + 2)
            : lig_onnx_integers (s->onnx, 4, (gint64) at, (gint64) at + 1, (gint64) at + 2,
                                 (gint64) at + 3);
  return lig_onnx_node (s->onnx, "Unsqueeze", value, axes, NULL);
}

static const char *
count_up (LigOnnx *onnx, const char *end)
{
  return lig_onnx_node (onnx, "Range", lig_onnx_integer (onnx, 0), end, lig_onnx_integer (onnx, 1),
                        NULL);
}

static void
allow (Scores *s, const char *condition)
{
  s->allowed = s->allowed ? lig_onnx_node (s->onnx, "And", s->allowed, condition, NULL) : condition;
}

/* Writes the positions of queries and keys. */
static void
write_positions (Scores *s)
{
  LigOnnx *onnx = s->onnx;
  gboolean cross = lig_onnx_has (onnx, "memory");
  const char *queries = lig_onnx_length (onnx, lig_onnx_get (onnx, "x"), s->n_axes - 2);
  const char *keys =
    cross ? lig_onnx_length (onnx, lig_onnx_get (onnx, "memory"), s->n_axes - 2) : queries;
  s->j = count_up (onnx, keys);
  s->i = lig_onnx_node (onnx, "Unsqueeze", count_up (onnx, queries),
                        lig_onnx_integers (onnx, 1, (gint64) 1), NULL);
  if (lig_onnx_has (onnx, "lengths"))
    s->lengths =
      spread (s, lig_onnx_cast_integer (onnx, lig_onnx_get (onnx, "lengths")), FALSE, FALSE);
  if (s->params->kernel.mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT && cross)
    s->shift = lig_onnx_node (onnx, "Sub", s->lengths ? s->lengths : keys, queries, NULL);
}

/* Writes which keys a query sees. */
static void
write_mask (Scores *s)
{
  LigOnnx *onnx = s->onnx;
  const LigAttentionParams *p = &s->params->kernel;
  const char *at = s->shift ? lig_onnx_node (onnx, "Add", s->i, s->shift, NULL) : s->i;
  const char *window = lig_onnx_integer (onnx, p->window);
  if (p->mask != LIG_MASK_NONE)
    allow (s, lig_onnx_node (onnx, "LessOrEqual", s->j, at, NULL));
  if (p->window > 0)
    allow (s, lig_onnx_node (onnx, "Greater", s->j, lig_onnx_node (onnx, "Sub", at, window, NULL),
                             NULL));
  if (p->window > 0 && p->mask == LIG_MASK_NONE)
    allow (s,
           lig_onnx_node (onnx, "Less", s->j, lig_onnx_node (onnx, "Add", at, window, NULL), NULL));
  if (s->lengths)
    allow (s, lig_onnx_node (onnx, "Less", s->j, s->lengths, NULL));
  if (s->lengths && !lig_onnx_has (onnx, "memory"))
    allow (s, lig_onnx_node (onnx, "Less", s->i, s->lengths, NULL));
  if (lig_onnx_has (onnx, "documents")) {
    const char *documents = lig_onnx_get (onnx, "documents");
    allow (s, lig_onnx_node (onnx, "Equal", spread (s, documents, TRUE, FALSE),
                             spread (s, documents, FALSE, TRUE), NULL));
  }
}

/* Writes the softcap and the biases that decrease with the distance. */
static const char *
write_biases (Scores *s, const char *scores)
{
  LigOnnx *onnx = s->onnx;
  const LigAttentionParams *p = &s->params->kernel;
  if (p->softcap > 0) {
    const char *cap = lig_onnx_number (onnx, (double) p->softcap);
    scores = lig_onnx_node (onnx, "Tanh", lig_onnx_node (onnx, "Div", scores, cap, NULL), NULL);
    scores = lig_onnx_node (onnx, "Mul", scores, cap, NULL);
  }
  if (!p->alibi)
    return scores;
  const LigShape shape = {.n_axes = 4, .axes = {p->kv_heads, p->heads / p->kv_heads, 1, 1}};
  g_autofree float *slopes = g_new (float, (gsize) p->heads);
  int whole = 1;
  while (2 * whole <= p->heads)
    whole *= 2;
  for (int h = 0; h < p->heads; h++)
    slopes[h] = exp2f (h < whole ? -8.0f * (float) (h + 1) / (float) whole
                                 : -4.0f * (float) (2 * (h - whole) + 1) / (float) whole);
  const char *at = s->shift ? lig_onnx_node (onnx, "Add", s->i, s->shift, NULL) : s->i;
  const char *distance =
    lig_onnx_node (onnx, "Abs", lig_onnx_node (onnx, "Sub", s->j, at, NULL), NULL);
  const char *bias = lig_onnx_node (onnx, "Mul", lig_onnx_cast_number (onnx, distance),
                                    lig_onnx_numbers (onnx, &shape, slopes), NULL);
  return lig_onnx_node (onnx, "Sub", scores, bias, NULL);
}

/* Writes the softmax of the scores, in whose sum a number per head takes part. */
static const char *
write_sinks (Scores *s, const char *scores)
{
  LigOnnx *onnx = s->onnx;
  const LigAttentionParams *p = &s->params->kernel;
  const char *last = lig_onnx_integers (onnx, 1, (gint64) -1);
  const char *sinks =
    lig_onnx_node (onnx, "Reshape", lig_onnx_get (onnx, "sinks"),
                   lig_onnx_integers (onnx, 4, (gint64) p->kv_heads,
                                      (gint64) (p->heads / p->kv_heads), (gint64) 1, (gint64) 1),
                   NULL);
  const char *max = lig_onnx_node (onnx, "ReduceMax", scores, last, NULL);
  max = lig_onnx_node (onnx, "Max", max, sinks, NULL);
  const char *powers =
    lig_onnx_node (onnx, "Exp", lig_onnx_node (onnx, "Sub", scores, max, NULL), NULL);
  const char *own =
    lig_onnx_node (onnx, "Exp", lig_onnx_node (onnx, "Sub", sinks, max, NULL), NULL);
  const char *sum = lig_onnx_node (onnx, "ReduceSum", powers, last, NULL);
  sum = lig_onnx_node (onnx, "Add", sum, own, NULL);
  return lig_onnx_node (onnx, "Div", powers, sum, NULL);
}

/* Writes the weights of the keys. A query that sees no key has no weights: its output is zeros. */
static const char *
write_weights (Scores *s, const char *scores)
{
  LigOnnx *onnx = s->onnx;
  const char *weights;
  scores = write_biases (s, scores);
  if (s->allowed)
    scores = lig_onnx_node (onnx, "Where", s->allowed, scores, lig_onnx_number (onnx, -1e30), NULL);
  if (s->params->scores.sinks) {
    weights = write_sinks (s, scores);
  } else {
    weights = lig_onnx_node (onnx, "Softmax", scores, NULL);
    lig_onnx_attribute (onnx, "axis", -1);
  }
  if (s->allowed && (s->lengths || lig_onnx_has (onnx, "memory")))
    weights = lig_onnx_node (onnx, "Where", s->allowed, weights, lig_onnx_number (onnx, 0), NULL);
  return weights;
}

/* Returns heads [.., heads, T, D] of rows [.., T, heads D], from column `first` of the pieces. */
static const char *
write_heads (const Scores *s, const char *rows)
{
  const char *heads = lig_onnx_split_heads (s->onnx, rows, s->n_axes, s->params->kernel.features);
  return lig_onnx_permutation (s->onnx, heads, s->n_axes + 1, s->n_axes - 2, s->n_axes - 1);
}

static void
write_onnx (LigOnnx *onnx)
{
  Scores s = {
    .onnx = onnx, .params = lig_onnx_get_params (onnx), .n_axes = lig_onnx_count_axes (onnx, "x")};
  const LigAttentionParams *p = &s.params->kernel;
  gint64 queries = (gint64) p->heads * p->features, keys = (gint64) p->kv_heads * p->features;
  const gint64 columns[] = {queries, keys, keys};
  gboolean cross = lig_onnx_has (onnx, "memory");
  const char *pieces[3] = {lig_onnx_get (onnx, "x"), NULL, NULL};
  if (s.n_axes < 2 || s.params->block != ALL) {
    lig_onnx_reject (onnx, _ ("has no axis of positions, or works on a part of a sequence"));
    return;
  }
  if (cross)
    lig_onnx_split (onnx, lig_onnx_get (onnx, "memory"), s.n_axes - 1, columns + 1, 2, pieces + 1);
  else
    lig_onnx_split (onnx, pieces[0], s.n_axes - 1, columns, 3, pieces);
  const char *each = lig_onnx_integers (onnx, 1, (gint64) s.n_axes - 1);
  const char *grouped =
    lig_onnx_shape (onnx, s.n_axes - 2, 4, (gint64) p->kv_heads, (gint64) (p->heads / p->kv_heads),
                    (gint64) -1, (gint64) p->features);
  const char *q = lig_onnx_node (onnx, "Reshape", write_heads (&s, pieces[0]), grouped, NULL);
  const char *k = lig_onnx_node (onnx, "Unsqueeze", write_heads (&s, pieces[1]), each, NULL);
  const char *v = lig_onnx_node (onnx, "Unsqueeze", write_heads (&s, pieces[2]), each, NULL);
  q = lig_onnx_node (onnx, "Mul", q, lig_onnx_number (onnx, (double) p->scale), NULL);
  k = lig_onnx_permutation (onnx, k, s.n_axes + 2, s.n_axes, s.n_axes + 1);
  write_positions (&s);
  write_mask (&s);
  const char *weights = write_weights (&s, lig_onnx_node (onnx, "MatMul", q, k, NULL));
  const char *y = lig_onnx_node (onnx, "MatMul", weights, v, NULL);
  y = lig_onnx_node (
    onnx, "Reshape", y,
    lig_onnx_shape (onnx, s.n_axes - 2, 3, (gint64) p->heads, (gint64) -1, (gint64) p->features),
    NULL);
  y = lig_onnx_permutation (onnx, y, s.n_axes + 1, s.n_axes - 2, s.n_axes - 1);
  const char *rows = lig_onnx_shape (onnx, s.n_axes - 1, 1, queries);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Reshape", y, rows, NULL));
}

LIG_DEFINE_OP (attention) = {
  LIG_OP_INFO_SIZES,
  .name = "attention",
  .title = N_ ("Attention"),
  .category = N_ ("Attention"),
  .summary = N_ ("Scaled dot-product attention, with optional masks, window, ALiBi and dropout"),
  .formula = "y = softmax (scale q k^T + mask) v for each head of x = [q, k, v]",
  .example = "attention (4, kv-heads=2) @ 2x5x32",
  .params = params,
  .groups = groups,
  .params_size = sizeof (AttentionParams),
  .kernel_params_size = sizeof (LigAttentionParams),
  .extra_inputs = "lengths? documents? memory?",
  .parameters = parameters,
  .cached_input = "memory",
  .computes = "lse",
  .saves = "x memory lengths documents y lse",
  .infer = infer,
  .place = place,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .expand_positions = lig_attention_expand_positions,
  .positions = find_positions,
  .onnx = write_onnx,
};
