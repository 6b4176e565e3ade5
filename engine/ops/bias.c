/* SPDX-License-Identifier: MIT */
/* y = x + bias, one vector added to each row. */
#include "engine/ops/define.h"

typedef struct {
  gint64 size;
} BiasParams;

static const LigParam params[] = {
  LIG_INT (BiasParams,
           size,
           "size",
           N_ ("Size"),
           N_ ("Length of the vector; default: the length of the input's last axis"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_INFERRED | LIG_PARAM_POSITIONAL),
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {{.name = "bias", .init = LIG_INIT_ZEROS},
                                              {.name = NULL}};

static gboolean
infer (LigInfer *self, GError **error)
{
  const BiasParams *values = self->params;
  gint64 size = values->size;
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS && size % self->n_ranks[LIG_GROUP_TENSOR] == 0)
    size /= self->n_ranks[LIG_GROUP_TENSOR];
  if (!lig_check_features (self, size, error))
    return FALSE;
  lig_shape_init (&self->parameters[0], 1, lig_shape_columns (&self->x));
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS)
    self->parameter_shardings[0] =
      (LigParameterSharding){0, self->x_sharding.sections, LIG_GROUP_TENSOR};
  return TRUE;
}

/* The input's gradient equals the output's. */
static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "bias_backward", NULL, NULL, 0);
  lig_lower_alias (lowering, "dx", "dy");
}

static void
write_onnx (LigOnnx *onnx)
{
  const char *x = lig_onnx_get (onnx, "x"), *bias = lig_onnx_get (onnx, "bias");
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Add", x, bias, NULL));
}

LIG_DEFINE_OP (bias) = {
  LIG_OP_INFO_SIZES,
  .name = "bias",
  .title = N_ ("Bias"),
  .category = N_ ("Linear"),
  .summary = N_ ("Adds a trainable vector to each row"),
  .formula = "y = x + bias",
  .example = "bias @ 5x8",
  .flags = LIG_OP_PASSES_GRADIENT,
  .params = params,
  .params_size = sizeof (BiasParams),
  .parameters = parameters,
  .infer = infer,
  .forward = "bias",
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .noun = N_ ("a bias"),
  .onnx = write_onnx,
};
