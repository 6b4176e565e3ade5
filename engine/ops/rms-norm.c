/* SPDX-License-Identifier: MIT */
/* y = x rstd g over the last axes, g = weight or 1 + weight (Zhang and Sennrich, 2019). */
#include "engine/ops/norm.h"

static const LigParam params[] = {
  LIG_NORM_PARAMS (N_ ("Added to the mean square before the square root"))};

static const LigParameterInfo parameters[] = {{.name = "weight", .init = LIG_INIT_ONES},
                                              {.name = NULL}};

static void
write_onnx (LigOnnx *onnx)
{
  const LigNormParams *values = lig_onnx_get_params (onnx);
  const char *gain = lig_onnx_gain (onnx), *x = lig_onnx_get (onnx, "x");
  const char *square = lig_onnx_node (onnx, "Mul", x, x, NULL);
  const gint64 last[LIG_MAX_AXES] = {-1, -2, -3, -4, -5, -6, -7, -8};
  const char *axes =
    lig_onnx_integers (onnx, lig_onnx_count_axes (onnx, "weight"), last[0], last[1], last[2],
                       last[3], last[4], last[5], last[6], last[7]);
  const char *mean = lig_onnx_node (onnx, "ReduceMean", square, axes, NULL);
  mean = lig_onnx_node (onnx, "Add", mean, lig_onnx_number (onnx, (double) values->eps), NULL);
  const char *y = lig_onnx_node (onnx, "Div", x, lig_onnx_node (onnx, "Sqrt", mean, NULL), NULL);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Mul", y, gain, NULL));
}

LIG_DEFINE_OP (rms_norm) = {
  LIG_OP_INFO_SIZES,
  .name = "rms-norm",
  .title = N_ ("RMS norm"),
  .category = N_ ("Normalization"),
  .summary = N_ ("Normalizes each row to unit mean square"),
  .formula = "y = x rstd gain, rstd = 1 / sqrt (mean (x^2) + eps), "
             "gain = weight, or 1 + weight if zero-centered",
  .example = "rms-norm @ 4x16",
  .flags = LIG_OP_NORM,
  .params = params,
  .params_size = sizeof (LigNormOpParams),
  .kernel_params_size = sizeof (LigNormParams),
  .parameters = parameters,
  .computes = "rstd",
  .saves = "x rstd",
  .infer = lig_infer_norm,
  .forward = "rms_norm",
  .backward = "rms_norm_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
