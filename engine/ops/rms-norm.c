/* SPDX-License-Identifier: MIT */
/* y = x rstd g over the last axes, g = weight or 1 + weight (Zhang and Sennrich, 2019). */
#include "engine/ops/norm.h"

static const LigParam params[] = {
  LIG_NORM_PARAMS (N_ ("Added to the mean square before the square root"))};

static const LigParameterInfo parameters[] = {{.name = "weight", .init = LIG_INIT_ONES},
                                              {.name = NULL}};

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
};
