/* SPDX-License-Identifier: MIT */
/* The mean of (x - targets)^2 over all elements. */
#include "engine/ops/define.h"

static gboolean
infer (LigInfer *self, GError **error)
{
  if (!lig_check_batch (self, error) ||
      !lig_check_extra (self, 0, "targets", &self->x, self->compute, error))
    return FALSE;
  self->y = (LigShape){0};
  self->y_dtype = LIG_FP32;
  return TRUE;
}

LIG_DEFINE_OP (mean_squared_error) = {
  LIG_OP_INFO_SIZES,
  .name = "mean-squared-error",
  .title = N_ ("Mean squared error"),
  .category = N_ ("Loss"),
  .summary = N_ ("Mean squared error of the input and the targets"),
  .formula = "y = mean ((x - targets)^2)",
  .example = "mean-squared-error @ 6x4",
  .flags = LIG_OP_LOSS,
  .extra_inputs = "targets",
  .saves = "x targets",
  .infer = infer,
  .forward = "mean_squared_error",
  .backward = "mean_squared_error_backward",
  .shardings = LIG_COMPUTES_POSITIONS,
  .no_onnx = N_ ("is a loss; the exported graph ends before it"),
};
