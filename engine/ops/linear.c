/* SPDX-License-Identifier: MIT */
/* A macro: basic-linear, then bias unless disabled. Its parts have no names, because their
 * parameters have different ones: `1.weight`, `1.bias`. With tensor parallelism the collectives are
 * parts, too. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  LIG_LINEAR_PARAMS ("none|column|row|auto",
                     LIG_PARALLEL_AUTO,
                     N_ ("How tensor parallelism shards the weight: none, by out-features "
                         "(column) or by in-features (row); auto: by out-features if a "
                         "cross-entropy follows and they are a multiple of the number of "
                         "ranks, else none")),
  LIG_BOOLEAN (
    LigLinearOpParams, bias, "bias", N_ ("Bias"), N_ ("Adds a trainable vector to each row"), TRUE),
  LIG_BOOLEAN (LigLinearOpParams,
               sequence_parallel,
               "sequence-parallel",
               N_ ("Sequence parallel"),
               N_ ("Sequence parallelism: each rank has a part of the rows before "
                   "parallel=column or after parallel=row"),
               FALSE),
  {.name = NULL},
};

static void
expand (LigOp *self, LigParts *parts)
{
  const LigLinearOpParams *values = lig_op_get_params (self);
  LigParallel parallel = (LigParallel) values->parallel;
  if (parallel == LIG_PARALLEL_AUTO)
    parallel = lig_parts_shards_vocabulary (parts) ? LIG_PARALLEL_COLUMN : LIG_PARALLEL_NONE;
  LigOp *matmul = lig_op_new ("basic-linear", NULL);
  g_autofree char *tied = NULL;
  g_object_get (self, "tied", &tied, NULL);
  g_object_set (matmul, "out-features", values->out_features, "in-features", values->in_features,
                "init-std", (double) values->init_std, "tied", tied, "parallel",
                lig_parallel_name (parallel), "sections", &values->sections, NULL);
  lig_parts_add_before (parts, parallel, values->sequence_parallel);
  lig_parts_add (parts, NULL, matmul);
  lig_parts_add_after (parts, parallel, values->sequence_parallel);
  if (values->bias)
    lig_parts_add (parts, NULL, lig_op_new ("bias", NULL));
}

/* --- Collapsing the parts again -------------------------------------------------------------- */

static gboolean
is_op (const LigParts *parts, guint index, const char *name)
{
  LigOp *op = lig_parts_nth (parts, index, NULL);
  return op && g_str_equal (lig_op_get_name (op), name);
}

/* Returns whether the part is the collective of a matmul, and whether it is one over rows. */
static gboolean
is_collective (const LigParts *parts, guint index, const char *rows, gboolean *by_rows)
{
  *by_rows = is_op (parts, index, rows);
  return *by_rows || is_op (parts, index, "all-reduce");
}

static gboolean
is_plain (LigOp *op)
{
  const LigParam *param = lig_op_get_info (op)->params;
  for (; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (lig_op_get_value (op, param, &value))
      return FALSE;
  }
  return TRUE;
}

/* Returns whether the part is the bias of a matmul: they have the same name. */
static gboolean
is_bias (const LigParts *parts, guint index, const char *matmul)
{
  const char *name;
  LigOp *op = lig_parts_nth (parts, index, &name);
  return is_op (parts, index, "bias") && is_plain (op) && g_strcmp0 (matmul, name) == 0;
}

/* Returns (transfer full) (nullable) the linear that the matmul, its bias and its collective
 * are. */
static LigOp *
make_linear (LigOp *matmul, gboolean bias, gboolean by_rows)
{
  const LigParam *param;
  g_autoptr (LigOp) linear = lig_op_new ("linear", NULL);
  for (param = lig_op_get_info (matmul)->params; linear && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (lig_op_get_value (matmul, param, &value) &&
        !lig_op_set_value (linear, param->name, &value, NULL))
      return NULL;
  }
  if (linear && !bias)
    g_object_set (linear, "bias", FALSE, NULL);
  if (linear && by_rows)
    g_object_set (linear, "sequence-parallel", TRUE, NULL);
  return g_steal_pointer (&linear);
}

/* A matmul, its collective and its bias with one name become a linear. Unnamed parts come from a
 * linear and stay, without the collective: between the matmul and its bias it would prevent fusions
 * on one rank, and on several ranks the plan reports that it is missing. */
static guint
collect (LigParts *parts, guint at)
{
  const char *name;
  gboolean gathers = FALSE, scatters;
  LigOp *matmul = lig_parts_nth (parts, at, &name);
  if (!is_op (parts, at, "basic-linear"))
    return at;
  gboolean before = at > 0 && is_collective (parts, at - 1, "all-gather", &gathers);
  gboolean after = is_collective (parts, at + 1, "reduce-scatter", &scatters);
  guint next = at + 1 + (after ? 1 : 0);
  gboolean bias = name && is_bias (parts, next, name);
  LigOp *linear = name && (bias || before || after)
                    ? make_linear (matmul, bias, (before && gathers) || (after && scatters))
                    : NULL;
  if (name && !linear)
    return at;
  if (linear)
    lig_parts_replace (parts, at, linear);
  if (bias)
    lig_parts_replace (parts, next, NULL);
  if (after)
    lig_parts_replace (parts, at + 1, NULL);
  if (before)
    lig_parts_replace (parts, at - 1, NULL);
  return before ? at - 1 : at;
}

LIG_DEFINE_OP (linear) = {
  LIG_OP_INFO_SIZES,
  .name = "linear",
  .title = N_ ("Linear"),
  .category = N_ ("Linear"),
  .summary = N_ ("Linear layer: multiplies each row by a weight matrix and adds a bias"),
  .formula = "y = x weight^T + bias",
  .example = "linear (12) @ 5x8",
  .params = params,
  .params_size = sizeof (LigLinearOpParams),
  .expand = expand,
  .vocabulary = "out-features",
  .vocabulary_choice = "column",
  .collect = collect,
};
