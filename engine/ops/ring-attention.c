/* SPDX-License-Identifier: MIT */
/* Ring attention over a sequence that is sharded over a context-parallel group (Liu and others,
 * Ring Attention, 2023): in each step, of which there are as many as ranks, a rank attends to the
 * keys and values of one rank, while it sends them to the next rank and receives those of the
 * previous one. It never holds those of more than two ranks. The results of the steps are merged in
 * fp32 by their log-sum-exp.
 *
 * A rank has two blocks of positions, see kernels/positions.h. With a causal mask, all of its
 * queries attend to the first block of an earlier rank; its second block of queries attends to both
 * blocks of a later rank; and its own keys get an ordinary mask. So all steps are equal work. */
#include "engine/ops/define.h"
#include <ligature/params-attention.h>
#include <ligature/params-collective.h>
#include <ligature/params-positions.h>

#include <math.h>

typedef struct {
  LigAttentionParams kernel; /* to the rank's own keys */
  LigHeads packed;
  gint64 heads, kv_heads, batch;
  int32_t mask;
  float scale, softcap;
  bool sinks;
  LigDtype dtype;
  int32_t ranks, rank;
} RingParams;

enum { CAUSAL, NONE };

static const LigParam params[] = {
  LIG_HEADS (RingParams, heads),
  LIG_KV_HEADS (RingParams, kv_heads),
  LIG_CHOICE (RingParams,
              mask,
              "mask",
              N_ ("Mask"),
              N_ ("Keys that a query attends to; causal: none after its own position"),
              "causal|none",
              CAUSAL),
  LIG_FLOAT (RingParams,
             scale,
             "scale",
             N_ ("Scale"),
             N_ ("Scale of the scores; 0: 1 / sqrt(head dim)"),
             0,
             1e6,
             0),
  LIG_FLOAT (RingParams,
             softcap,
             "softcap",
             N_ ("Soft cap"),
             N_ ("Soft cap of the scores, by tanh; 0: none"),
             0,
             1e6,
             0),
  LIG_FLOAT (RingParams,
             kernel.dropout,
             "dropout",
             N_ ("Dropout"),
             N_ ("Dropout probability of attention weights in training"),
             0,
             1,
             0),
  LIG_SINKS_PARAM (RingParams, sinks),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = LIG_SINKS_PARAMETERS;

/* Sets the positions of the queries and keys in the whole sequence, which index the RNG stream of
 * dropout: `first` is the first of the rank's queries that attend to keys of the rank `of`. */
static void
find_positions (const RingParams *p, gint64 first, int of, LigAttentionParams *attention)
{
  int32_t half = p->kernel.length / 2, late = 2 * p->ranks - 2;
  attention->whole = p->ranks * p->kernel.length;
  attention->query_half = half - (int32_t) first;
  attention->query_shift[0] = p->rank * half;
  attention->query_shift[1] = (late - p->rank) * half + (int32_t) first;
  attention->key_half = half;
  attention->key_shift[0] = of * half;
  attention->key_shift[1] = (late - of) * half;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  RingParams *values = (RingParams *) self->params;
  LigAttentionParams *kernel = &values->kernel;
  LigShape batch = lig_shape_without (&self->x, 2);
  LigHeads packed;
  values->ranks = self->n_ranks[LIG_GROUP_CONTEXT];
  values->rank = self->places[LIG_GROUP_CONTEXT];
  values->dtype = self->compute;
  if (!lig_check_batch (self, error) ||
      !lig_infer_heads (self, values->heads, values->kv_heads, FALSE, &packed, error) ||
      (values->ranks > 1 && !lig_check_halves (self, error)))
    return FALSE;
  *kernel = (LigAttentionParams){
    .dropout = kernel->dropout,
    .path_hash = kernel->path_hash,
    .heads = packed.heads,
    .kv_heads = packed.kv_heads,
    .features = packed.features,
    .length = packed.length,
    .memory_length = packed.length,
    .mask = values->mask == CAUSAL ? LIG_MASK_CAUSAL : LIG_MASK_NONE,
    .scale = values->scale > 0 ? values->scale : 1 / sqrtf ((float) packed.features),
    .softcap = values->softcap,
  };
  values->packed = packed;
  lig_infer_sinks (self, values->sinks, values->heads, &packed);
  if (values->ranks > 1)
    find_positions (values, 0, values->rank, kernel);
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS) {
    kernel->all_heads = (int32_t) values->heads;
    kernel->first_head = self->rank * packed.heads;
    self->y_sharding.sections = (LigSections){1, {values->heads * packed.features}};
  }
  values->batch = lig_shape_size (&batch);
  self->y.axes[self->y.n_axes - 1] = (gint64) packed.heads * packed.features;
  batch.axes[batch.n_axes++] = packed.heads;
  batch.axes[batch.n_axes++] = packed.length;
  /* Two halves: see kernel-list.h. */
  batch.axes[0] *= 2;
  self->kept[0] = batch;
  return TRUE;
}

static void
place (void *values, const char *path)
{
  ((RingParams *) values)->kernel.path_hash = (guint32) lig_hash_path (path);
}

/* --- Lowering ------------------------------------------------------------------------------ */

/* The queries that attend in a step, and the number of leading keys that they see. */
typedef struct {
  gint64 first, queries, keys;
} Pair;

static Pair
pair_of (const RingParams *p, int step)
{
  gint64 length = p->kernel.length, half = length / 2;
  if (p->mask == NONE)
    return (Pair){0, length, length};
  return step <= p->rank ? (Pair){0, length, half} : (Pair){half, half, length};
}

static gint64
query_columns (const RingParams *p)
{
  return (gint64) p->kernel.heads * p->kernel.features;
}

static gint64
key_columns (const RingParams *p)
{
  return 2 * (gint64) p->kernel.kv_heads * p->kernel.features;
}

/* Adds a value of the step, `kv.2`. */
static void
add (LigLowering *lowering, const char *name, int step, gint64 rows, gint64 columns, LigDtype dtype)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  g_autofree char *numbered = g_strdup_printf ("%s.%d", name, step);
  LigShape shape;
  lig_shape_init (&shape, 3, p->batch, rows, columns);
  lig_lower_value (lowering, numbered, &shape, dtype);
}

/* Emits a kernel whose bindings name values of steps. */
static void emit (LigLowering *lowering,
                  const char *kernel,
                  const void *params,
                  gsize size,
                  const char *bindings,
                  ...) G_GNUC_PRINTF (5, 6);

static void
emit (LigLowering *lowering,
      const char *kernel,
      const void *values,
      gsize size,
      const char *format,
      ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *bindings = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  lig_lower_kernel (lowering, kernel, bindings, values, size);
}

/* Sends a value of the step to the next rank, and receives that of `to` from the previous one. */
static void
pass_on (LigLowering *lowering, const char *name, int step, const char *to)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  const LigRingParams ring = {{p->ranks, LIG_REDUCE_SUM, LIG_GROUP_CONTEXT}, 0};
  g_autofree char *bindings = g_strdup_printf ("x=%s.%d y=%s.%d", name, step, to, step + 1);
  lig_lower_beside (lowering, "ring_exchange", bindings, &ring, sizeof ring);
}

static void
pass_keys (LigLowering *lowering, int step)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  if (step + 1 >= p->ranks)
    return;
  add (lowering, "kv", step + 1, p->kernel.length, key_columns (p), p->dtype);
  pass_on (lowering, "kv", step, "kv");
}

/* Copies a range of tokens and columns of a value. */
static void
take (LigLowering *lowering,
      const char *from,
      const char *to,
      int step,
      LigSliceParams slice,
      gint64 columns)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  add (lowering, to, step, slice.count, columns, p->dtype);
  emit (lowering, "slice", &slice, sizeof slice, "x=%s y=%s.%d", from, to, step);
}

/* Returns the first step that has so many queries, or the number of steps if none has. They are
 * copied once for all such steps, under its number. */
static int
first_step (const RingParams *p, gint64 queries)
{
  int step = 1;
  while (step < p->ranks && pair_of (p, step).queries != queries)
    step++;
  return step;
}

/* Copies the parts of the rank's own rows that the steps need: the keys, which are sent first, and
 * the queries. */
static void
prepare (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  gint64 length = p->kernel.length, queries = query_columns (p);
  take (lowering, "x", "kv", 0, (LigSliceParams){length, 0, length, queries}, key_columns (p));
  pass_keys (lowering, 0);
  for (int step = 1; step < p->ranks; step++) {
    Pair pair = pair_of (p, step);
    if (first_step (p, pair.queries) == step)
      take (lowering, "x", "q", step, (LigSliceParams){length, pair.first, pair.queries, 0},
            queries);
  }
}

/* Copies the keys of a step if they are not all of those that arrived. Returns their name. */
static const char *
take_keys (LigLowering *lowering, int step, Pair pair)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  g_autofree char *all = g_strdup_printf ("kv.%d", step);
  if (pair.keys == p->kernel.length)
    return "kv";
  take (lowering, all, "keys", step, (LigSliceParams){p->kernel.length, 0, pair.keys, 0},
        key_columns (p));
  return "keys";
}

/* Returns the params of attention to the rank's own keys. */
static LigAttentionParams
own_params (LigLowering *lowering)
{
  LigAttentionParams attention = ((const RingParams *) lig_lower_params (lowering, 0))->kernel;
  if (!lig_lower_is_training (lowering))
    attention.dropout = 0;
  return attention;
}

/* Returns the params of attention in a step, which needs no mask. */
static LigAttentionParams
step_params (LigLowering *lowering, int step, Pair pair)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  LigAttentionParams attention = own_params (lowering);
  find_positions (p, pair.first, (p->rank - step + p->ranks) % p->ranks, &attention);
  attention.length = (int32_t) pair.queries;
  attention.memory_length = (int32_t) pair.keys;
  attention.mask = LIG_MASK_NONE;
  return attention;
}

/* Attends to the keys of a step, and merges the result with those of the steps before it. */
static void
attend (LigLowering *lowering, int step)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  Pair pair = pair_of (p, step);
  gboolean last = step + 1 == p->ranks;
  const char *keys = take_keys (lowering, step, pair);
  LigAttentionParams attention = step_params (lowering, step, pair);
  const char *result = p->sinks ? "y=all lse=all_lse" : "y=y lse=lse";
  const LigMergeParams merge = {p->kernel.heads, p->kernel.features, p->kernel.length, pair.first,
                                pair.queries};
  add (lowering, "part", step, pair.queries, query_columns (p), p->dtype);
  add (lowering, "part_lse", step, 2 * p->kernel.heads, pair.queries, LIG_FP32);
  emit (lowering, "attention", &attention, sizeof attention,
        "lengths=- documents=- x=q.%d memory=%s.%d y=part.%d lse=part_lse.%d",
        first_step (p, pair.queries), keys, step, step, step);
  if (!last) {
    add (lowering, "sum", step, p->kernel.length, query_columns (p), LIG_FP32);
    add (lowering, "lse", step, 2 * p->kernel.heads, p->kernel.length, LIG_FP32);
  }
  g_autofree char *to =
    last ? g_strdup (result) : g_strdup_printf ("y=sum.%d lse=lse.%d", step, step);
  emit (lowering, "attention_merge", &merge, sizeof merge,
        "x=sum.%d x_lse=lse.%d part=part.%d part_lse=part_lse.%d %s", step - 1, step - 1, step,
        step, to);
}

/* Attends to the keys of all ranks. */
static void
attend_to_all (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  const LigAttentionParams attention = own_params (lowering);
  prepare (lowering);
  add (lowering, "sum", 0, p->kernel.length, query_columns (p), p->dtype);
  add (lowering, "lse", 0, 2 * p->kernel.heads, p->kernel.length, LIG_FP32);
  emit (lowering, "attention", &attention, sizeof attention,
        "memory=- lengths=- documents=- y=sum.0 lse=lse.0");
  for (int step = 1; step < p->ranks; step++) {
    pass_keys (lowering, step);
    attend (lowering, step);
  }
}

static void
lower_forward (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  const LigAttentionParams attention = own_params (lowering);
  if (p->sinks)
    lig_lower_before_sinks (lowering);
  if (p->ranks > 1)
    attend_to_all (lowering);
  else
    emit (lowering, "attention", &attention, sizeof attention, "memory=- lengths=- documents=- %s",
          p->sinks ? "y=all lse=all_lse" : "y=y lse=lse");
  if (p->sinks)
    lig_lower_sinks (lowering, &p->packed);
}

/* --- Backward ------------------------------------------------------------------------------ */

/* Copies the second half of y, of its gradient and of lse, if steps use that half of the
 * queries. */
static void
prepare_half (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  gint64 length = p->kernel.length, half = length / 2;
  int step = first_step (p, half);
  const LigSliceParams columns = {1, 0, 1, half}, rows = {length, half, half, 0};
  if (step == p->ranks)
    return;
  take (lowering, "dy", "dy", step, rows, query_columns (p));
  take (lowering, "y", "y", step, rows, query_columns (p));
  add (lowering, "lse", step, 2 * p->kernel.heads, half, LIG_FP32);
  emit (lowering, "slice", &columns, sizeof columns, "x=lse y=lse.%d", step);
}

/* Adds a part of a gradient to the sum `before`, in fp32; the first step starts from 0. */
static void
sum_up (LigLowering *lowering,
        const char *name,
        int step,
        const char *before,
        const char *part,
        LigSliceParams slice,
        gint64 columns)
{
  add (lowering, name, step, slice.length, columns, LIG_FP32);
  emit (lowering, "add_slice", &slice, sizeof slice, "x=%s slice=%s.%d y=%s.%d",
        step > 1 ? before : "-", part, step, name, step);
}

/* Computes the gradients of a step, while the key gradient arrives to which the previous ranks have
 * added theirs. */
static void
attend_back (LigLowering *lowering, int step)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  Pair pair = pair_of (p, step);
  gint64 length = p->kernel.length, queries = query_columns (p), memory = key_columns (p);
  const char *keys = take_keys (lowering, step, pair);
  LigAttentionParams attention = step_params (lowering, step, pair);
  int from = first_step (p, pair.queries);
  g_autofree char *arrived = g_strdup_printf ("arrived.%d", step);
  g_autofree char *before = g_strdup_printf ("queries.%d", step - 1);
  g_autofree char *half = g_strdup_printf ("dy=dy.%d y=y.%d lse=lse.%d", from, from, from);
  add (lowering, "dq", step, pair.queries, queries, p->dtype);
  add (lowering, "dkeys", step, pair.keys, memory, p->dtype);
  emit (lowering, "attention_backward", &attention, sizeof attention,
        "lengths=- documents=- %s x=q.%d memory=%s.%d dx=dq.%d dmemory=dkeys.%d",
        pair.queries == length ? "" : half, from, keys, step, step, step);
  sum_up (lowering, "dkv", step, arrived, "dkeys", (LigSliceParams){length, 0, pair.keys, 0},
          memory);
  sum_up (lowering, "queries", step, before, "dq",
          (LigSliceParams){length, pair.first, pair.queries, 0}, queries);
}

/* Sends the gradient of a step's keys to the next rank; the last step sends it to the rank that
 * owns the keys. */
static void
pass_gradient (LigLowering *lowering, int step)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  add (lowering, "arrived", step + 1, p->kernel.length, key_columns (p), LIG_FP32);
  pass_on (lowering, "dkv", step, "arrived");
}

/* The rank's own keys come last, while their gradient is in transit to it. */
static void
attend_own_back (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  gint64 length = p->kernel.length, columns = query_columns (p) + key_columns (p);
  LigSliceParams slice = {length, 0, length, 0};
  add (lowering, "own", 0, length, columns, p->dtype);
  add (lowering, "own", 1, length, columns, p->dtype);
  emit (lowering, "attention_backward", NULL, 0,
        "memory=- lengths=- documents=- dx=own.0 dmemory=-");
  emit (lowering, "add_slice", &slice, sizeof slice, "x=own.0 slice=queries.%d y=own.1",
        p->ranks - 1);
  slice.column = query_columns (p);
  emit (lowering, "add_slice", &slice, sizeof slice, "x=own.1 slice=arrived.%d y=dx", p->ranks);
}

/* Computes the gradients of the queries, and of the keys of all ranks. */
static void
attend_to_all_back (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  prepare (lowering);
  prepare_half (lowering);
  for (int step = 1; step < p->ranks; step++) {
    pass_keys (lowering, step);
    if (step > 1)
      pass_gradient (lowering, step - 1);
    attend_back (lowering, step);
  }
  pass_gradient (lowering, p->ranks - 1);
  attend_own_back (lowering);
}

static void
lower_backward (LigLowering *lowering)
{
  const RingParams *p = lig_lower_params (lowering, 0);
  if (p->sinks)
    lig_lower_sinks_backward (lowering, &p->packed);
  if (p->ranks > 1)
    attend_to_all_back (lowering);
  else
    emit (lowering, "attention_backward", NULL, 0, "memory=- lengths=- documents=- dmemory=-");
}

LIG_DEFINE_OP (ring_attention) = {
  LIG_OP_INFO_SIZES,
  .name = "ring-attention",
  .title = N_ ("Ring attention"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Attention over a sharded sequence: keys and values pass from rank to rank"),
  .formula = "y = softmax (scale q k^T + mask) v for each head of x = [q, k, v] of all ranks",
  .example = "ring-attention (4, kv-heads=2) @ 2x4x32",
  .params = params,
  .params_size = sizeof (RingParams),
  .kernel_params_size = sizeof (LigAttentionParams),
  .parameters = parameters,
  .computes = "lse",
  .saves = "x y lse",
  .infer = infer,
  .place = place,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS | LIG_COMPUTES_COLUMNS,
  .no_onnx = N_ ("works on a sequence that several ranks share, while an ONNX graph runs on one; "
                 "export the plan of one rank"),
};
