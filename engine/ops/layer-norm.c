/* SPDX-License-Identifier: MIT */
/* y = (x - mean) rstd g + bias over the last axes; g = weight or 1 + weight (Ba et al., 2016). */
#include "engine/ops/norm.h"

static const LigParam params[] = {
  LIG_NORM_PARAMS (N_ ("Added to the variance before the square root"))};

static const LigParameterInfo parameters[] = {{.name = "weight", .init = LIG_INIT_ONES},
                                              {.name = "bias", .init = LIG_INIT_ZEROS},
                                              {.name = NULL}};

static void
write_onnx (LigOnnx *onnx)
{
  const LigNormParams *values = lig_onnx_get_params (onnx);
  const char *gain = lig_onnx_gain (onnx), *x = lig_onnx_get (onnx, "x");
  const char *y =
    lig_onnx_node (onnx, "LayerNormalization", x, gain, lig_onnx_get (onnx, "bias"), NULL);
  lig_onnx_attribute (onnx, "axis", -lig_onnx_count_axes (onnx, "weight"));
  lig_onnx_attribute_number (onnx, "epsilon", values->eps);
  lig_onnx_set (onnx, "y", y);
}

LIG_DEFINE_OP (layer_norm) = {
  LIG_OP_INFO_SIZES,
  .name = "layer-norm",
  .title = N_ ("Layer norm"),
  .category = N_ ("Normalization"),
  .summary = N_ ("Normalizes each row to zero mean and unit variance"),
  .formula = "y = (x - mean (x)) rstd gain + bias, rstd = 1 / sqrt (var (x) + eps), "
             "gain = weight, or 1 + weight if zero-centered",
  .example = "layer-norm @ 4x16",
  .flags = LIG_OP_NORM,
  .params = params,
  .params_size = sizeof (LigNormOpParams),
  .kernel_params_size = sizeof (LigNormParams),
  .parameters = parameters,
  .computes = "mean rstd",
  .saves = "x mean rstd",
  .infer = lig_infer_norm,
  .forward = "layer_norm",
  .backward = "layer_norm_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
