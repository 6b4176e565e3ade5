/* SPDX-License-Identifier: MIT */
/* A second matmul: other files recognize it only by its trait. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  LIG_LINEAR_PARAMS (
    "none|column|row", LIG_PARALLEL_NONE, N_ ("How tensor parallelism shards the weight")),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {
  {.name = "weight", .init = LIG_INIT_NORMAL, .matmul = TRUE, .decays = TRUE}, {.name = NULL}};

/* Sets the shard of a rank: rows of the weight, or columns and the resulting partial sums of y. */
static gboolean
shard (LigInfer *self, const LigLinearOpParams *values, int ranks, GError **error)
{
  LigSections sections = {1, {values->out_features}};
  LigShardingKind kind = self->x_sharding.kind;
  if (ranks > 1 && values->parallel == LIG_PARALLEL_ROW && kind == LIG_SHARDING_COLUMNS) {
    self->y_sharding = (LigSharding){.kind = LIG_SHARDING_PARTIAL};
    self->parameter_shardings[0] =
      (LigParameterSharding){1, self->x_sharding.sections, LIG_GROUP_TENSOR};
    return TRUE;
  }
  if (ranks > 1 && values->parallel == LIG_PARALLEL_COLUMN && kind == LIG_SHARDING_SHARED) {
    self->y_sharding = (LigSharding){LIG_SHARDING_COLUMNS, sections};
    self->parameter_shardings[0] = (LigParameterSharding){0, sections, LIG_GROUP_TENSOR};
    self->y.axes[self->y.n_axes - 1] /= ranks;
    self->parameters[0].axes[0] /= ranks;
    return lig_check_sharding (self, "out-features", values->out_features, error);
  }
  return kind == LIG_SHARDING_NONE || kind == LIG_SHARDING_ROWS ||
         lig_infer_reject_sharding (self, error);
}

static gboolean
infer (LigInfer *self, GError **error)
{
  const LigLinearOpParams *values = self->params;
  int ranks = self->n_ranks[LIG_GROUP_TENSOR];
  gboolean rows = values->parallel == LIG_PARALLEL_ROW && ranks > 1;
  if (!lig_check_features (self, rows ? values->in_features / ranks : values->in_features, error))
    return FALSE;
  self->y.axes[self->y.n_axes - 1] = values->out_features;
  lig_shape_init (&self->parameters[0], 2, values->out_features, lig_shape_columns (&self->x));
  return shard (self, values, ranks, error);
}

LIG_DEFINE_OP (dense) = {
  LIG_OP_INFO_SIZES,
  .name = "dense",
  .title = N_ ("Dense"),
  .category = N_ ("Linear"),
  .summary = N_ ("Multiplies each row by a matrix"),
  .formula = "y = x weight^T",
  .example = "dense (12) @ 5x8",
  .flags = LIG_OP_MATMUL,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (LigLinearOpParams),
  .parameters = parameters,
  .saves = "x weight",
  .infer = infer,
  .forward = "linear",
  .backward = "linear_backward_weight linear_backward_input",
  .vocabulary = "out-features",
  .vocabulary_choice = "column",
  .fuses_as = "basic-linear",
};
