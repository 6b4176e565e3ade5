/* SPDX-License-Identifier: MIT */
/* y = x / sqrt(sum(x^2) + eps) over the last axis. */
#include "engine/ops/define.h"
#include <ligature/params-norm.h>

static const LigParam params[] = {
  LIG_FLOAT (LigNormParams,
             eps,
             "eps",
             N_ ("Epsilon"),
             N_ ("Added to the sum of squares before the square root"),
             0,
             1,
             1e-6),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  return lig_check_has_axis (self, error);
}

static void
write_onnx (LigOnnx *onnx)
{
  const LigNormParams *values = lig_onnx_get_params (onnx);
  const char *x = lig_onnx_get (onnx, "x"), *square = lig_onnx_node (onnx, "Mul", x, x, NULL);
  const char *sum =
    lig_onnx_node (onnx, "ReduceSum", square, lig_onnx_integers (onnx, 1, (gint64) -1), NULL);
  sum = lig_onnx_node (onnx, "Add", sum, lig_onnx_number (onnx, (double) values->eps), NULL);
  lig_onnx_set (onnx, "y",
                lig_onnx_node (onnx, "Div", x, lig_onnx_node (onnx, "Sqrt", sum, NULL), NULL));
}

LIG_DEFINE_OP (l2_normalization) = {
  LIG_OP_INFO_SIZES,
  .name = "l2-normalization",
  .title = N_ ("L2 normalization"),
  .category = N_ ("Normalization"),
  .summary = N_ ("Scales each row to unit length"),
  .formula = "y = x rstd, rstd = 1 / sqrt (sum (x^2) + eps)",
  .example = "l2-normalization @ 4x16",
  .params = params,
  .params_size = sizeof (LigNormParams),
  .kernel_params_size = sizeof (LigNormParams),
  .computes = "rstd",
  .saves = "x rstd",
  .infer = infer,
  .forward = "l2_normalization",
  .backward = "l2_normalization_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
