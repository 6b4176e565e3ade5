/* SPDX-License-Identifier: MIT */
/* y = x weight^T: x[…, K], weight[N, K], y[…, N]. With tensor parallelism each rank has rows of the
 * weight and computes the same columns of y, or has columns of the weight and multiplies its
 * columns of x to one term of y (Shoeybi and others, 2019). */
#include "engine/ops/define.h"

#include <inttypes.h>

static const LigParam params[] = {
  LIG_LINEAR_PARAMS ("none|column|row",
                     LIG_PARALLEL_NONE,
                     N_ ("How tensor parallelism shards the weight: none, by out-features "
                         "(column) or by in-features (row)")),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {
  {.name = "weight", .init = LIG_INIT_NORMAL, .matmul = TRUE, .decays = TRUE}, {.name = NULL}};

/* Computes the lengths of the sections of the out-features. */
static gboolean
find_sections (const LigLinearOpParams *values, LigSections *sections, GError **error)
{
  const LigShape *shares = &values->sections;
  gint64 all = 0;
  *sections = (LigSections){1, {values->out_features}};
  if (shares->n_axes < 1)
    return TRUE;
  for (int i = 0; i < shares->n_axes; i++)
    all += shares->axes[i];
  if (shares->n_axes > LIG_MAX_SECTIONS || values->out_features % all != 0) {
    g_autofree char *text = lig_shape_to_string (shares);
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("sections is %s, expected at most %d shares whose sum divides out-features, "
                    "%" PRId64),
                 text, LIG_MAX_SECTIONS, values->out_features);
    return FALSE;
  }
  sections->count = shares->n_axes;
  for (int i = 0; i < shares->n_axes; i++)
    sections->lengths[i] = values->out_features / all * shares->axes[i];
  return TRUE;
}

static gboolean
infer_columns (LigInfer *self, const LigLinearOpParams *values, GError **error)
{
  LigSections sections;
  if (self->x_sharding.kind != LIG_SHARDING_SHARED)
    return lig_infer_reject_sharding (self, error);
  if (!find_sections (values, &sections, error))
    return FALSE;
  for (int i = 0; i < sections.count; i++)
    if (!lig_check_sharding (self, sections.count > 1 ? "a section" : "out-features",
                             sections.lengths[i], error))
      return FALSE;
  self->y_sharding = (LigSharding){LIG_SHARDING_COLUMNS, sections};
  self->parameter_shardings[0] = (LigParameterSharding){0, sections, LIG_GROUP_TENSOR};
  self->y.axes[self->y.n_axes - 1] /= self->n_ranks[LIG_GROUP_TENSOR];
  self->parameters[0].axes[0] /= self->n_ranks[LIG_GROUP_TENSOR];
  return TRUE;
}

static gboolean
infer_rows (LigInfer *self, GError **error)
{
  if (self->x_sharding.kind != LIG_SHARDING_COLUMNS)
    return lig_infer_reject_sharding (self, error);
  self->y_sharding = (LigSharding){.kind = LIG_SHARDING_PARTIAL};
  self->parameter_shardings[0] =
    (LigParameterSharding){1, self->x_sharding.sections, LIG_GROUP_TENSOR};
  return TRUE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  const LigLinearOpParams *values = self->params;
  gboolean rows = values->parallel == LIG_PARALLEL_ROW;
  int ranks = self->n_ranks[LIG_GROUP_TENSOR];
  gint64 sharded =
    rows && values->in_features % ranks == 0 ? values->in_features / ranks : values->in_features;
  LigShardingKind kind = self->x_sharding.kind;
  if (!lig_check_features (self, sharded, error))
    return FALSE;
  gint64 columns = lig_shape_columns (&self->x);
  self->y.axes[self->y.n_axes - 1] = values->out_features;
  lig_shape_init (&self->parameters[0], 2, values->out_features, columns);
  if (ranks > 1 && values->parallel == LIG_PARALLEL_COLUMN)
    return infer_columns (self, values, error);
  if (ranks > 1 && rows)
    return infer_rows (self, error);
  return kind == LIG_SHARDING_NONE || kind == LIG_SHARDING_ROWS ||
         lig_infer_reject_sharding (self, error);
}

/* The weight keeps its layout; readers transpose it once. */
static void
write_onnx (LigOnnx *onnx)
{
  const char *x = lig_onnx_get (onnx, "x"), *weight = lig_onnx_get (onnx, "weight");
  weight = lig_onnx_permutation (onnx, weight, 2, 0, 1);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "MatMul", x, weight, NULL));
}

LIG_DEFINE_OP (basic_linear) = {
  LIG_OP_INFO_SIZES,
  .name = "basic-linear",
  .title = N_ ("Basic linear"),
  .category = N_ ("Linear"),
  .summary = N_ ("Linear layer without a bias: multiplies each row by a weight matrix"),
  .formula = "y = x weight^T",
  .example = "basic-linear (12) @ 5x8",
  .flags = LIG_OP_MATMUL,
  .shardings = LIG_COMPUTES_ANY,
  .params = params,
  .params_size = sizeof (LigLinearOpParams),
  .parameters = parameters,
  .saves = "x weight",
  .infer = infer,
  .forward = "linear",
  .backward = "linear_backward_weight linear_backward_input",
  .short_title = N_ ("Linear"),
  .noun = N_ ("a matmul"),
  .vocabulary = "out-features",
  .vocabulary_choice = "column",
  .onnx = write_onnx,
};
