/* SPDX-License-Identifier: MIT */
/* y = gelu (a) b, a the first half of the features, b the second. */
#include "engine/ops/gated.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_gated (onnx, lig_onnx_gelu));
}

LIG_DEFINE_OP (geglu) = {
  LIG_OP_INFO_SIZES,
  .name = "geglu",
  .title = N_ ("GEGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("GELU of the first half gates the second"),
  .formula = "y = gelu (a) b, x = [a, b]",
  .example = "geglu @ 3x8",
  .flags = LIG_OP_GATED,
  .params = lig_gated_params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "geglu",
  .backward = "geglu_backward",
  .form = N_ ("tanh form"),
  .function = 1 + LIG_FUNCTION_geglu,
  .onnx = write_onnx,
};
