/* SPDX-License-Identifier: MIT */
/* y = x weight^T: x[…, K], weight[N, K], y[…, N]. */
#include "engine/ops/define.h"

static const LigParam params[] = {LIG_LINEAR_PARAMS, {.name = NULL}};

static const LigParameterInfo parameters[] = {{"weight", LIG_INIT_NORMAL, TRUE, TRUE},
                                              {.name = NULL}};

static gboolean
infer (LigInfer *self, GError **error)
{
  const LigLinearOpParams *values = self->params;
  if (!lig_check_features (self, values->in_features, error))
    return FALSE;
  gint64 columns = lig_shape_columns (&self->x);
  self->y.axes[self->y.n_axes - 1] = values->out_features;
  lig_shape_init (&self->parameters[0], 2, values->out_features, columns);
  return TRUE;
}

LIG_DEFINE_OP (basic_linear) = {
  LIG_OP_INFO_SIZES,
  .name = "basic-linear",
  .title = N_ ("Basic linear"),
  .category = N_ ("Linear"),
  .summary = N_ ("Multiplies each row by a weight matrix, without a bias"),
  .formula = "y = x weight^T",
  .example = "basic-linear (12) @ 5x8",
  .params = params,
  .params_size = sizeof (LigLinearOpParams),
  .parameters = parameters,
  .saves = "x weight",
  .infer = infer,
  .forward = "linear",
  .backward = "linear_backward_weight linear_backward_input",
};
