/* SPDX-License-Identifier: MIT */
/* y = max (a, 0) b, a the first half of the features, b the second. */
#include "engine/ops/gated.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_gated (onnx, lig_onnx_relu));
}

LIG_DEFINE_OP (reglu) = {
  LIG_OP_INFO_SIZES,
  .name = "reglu",
  .title = N_ ("ReGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("ReLU of the first half gates the second"),
  .formula = "y = max (a, 0) b, x = [a, b]",
  .example = "reglu @ 3x8",
  .flags = LIG_OP_GATED,
  .params = lig_gated_params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "reglu",
  .backward = "reglu_backward",
  .function = 1 + LIG_FUNCTION_reglu,
  .onnx = write_onnx,
};
