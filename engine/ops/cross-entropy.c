/* SPDX-License-Identifier: MIT */
/* The mean over counted rows of -log softmax(x)[target], natural logarithm. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  LIG_INT (LigCrossEntropyParams,
           ignored,
           "ignored",
           N_ ("Ignored"),
           N_ ("Rows with this target are not counted"),
           G_MININT32,
           G_MAXINT32,
           -100,
           0),
  LIG_FLOAT (LigCrossEntropyParams,
             label_smoothing,
             "label-smoothing",
             N_ ("Label smoothing"),
             N_ ("Probability that is spread evenly over all classes"),
             0,
             0.999,
             0),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  const LigCrossEntropyParams *values = self->params;
  LigShape rows = lig_shape_without (&self->x, 1);
  if (!lig_check_has_axis (self, error) ||
      !lig_check_extra (self, 0, "targets", &rows, LIG_INT32, error))
    return FALSE;
  gint64 classes = MIN (lig_shape_columns (&self->x), G_MAXINT32);
  self->extra_ranges[0] = (LigRange){0, (gint32) classes - 1, values->ignored};
  self->kept[0] = rows;
  self->kept[1] = self->y = (LigShape){0};
  self->y_dtype = LIG_FP32;
  return TRUE;
}

LIG_DEFINE_OP (cross_entropy) = {
  LIG_OP_INFO_SIZES,
  .name = "cross-entropy",
  .title = N_ ("Cross-entropy"),
  .category = N_ ("Loss"),
  .summary = N_ ("Mean negative log-likelihood of the target classes"),
  .formula = "y = mean (log (sum (exp (x))) - x[target]) over rows with a target",
  .example = "cross-entropy @ 6x10",
  .flags = LIG_OP_LOSS,
  .params = params,
  .params_size = sizeof (LigCrossEntropyParams),
  .kernel_params_size = sizeof (LigCrossEntropyParams),
  .extra_inputs = "targets",
  .computes = "lse count",
  .saves = "x targets lse count",
  .infer = infer,
  .forward = "cross_entropy",
  .backward = "cross_entropy_backward",
  .shardings = LIG_COMPUTES_POSITIONS,
};
