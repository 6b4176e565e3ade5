/* SPDX-License-Identifier: MIT */
/* y = sigmoid (a) b, a the first half of the features, b the second. */
#include "engine/ops/gated.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_gated (onnx, lig_onnx_sigmoid));
}

LIG_DEFINE_OP (glu) = {
  LIG_OP_INFO_SIZES,
  .name = "glu",
  .title = N_ ("GLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("Gated linear unit: the sigmoid of the first half gates the second"),
  .formula = "y = sigmoid (a) b, x = [a, b]",
  .example = "glu @ 3x8",
  .flags = LIG_OP_GATED,
  .params = lig_gated_params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "glu",
  .backward = "glu_backward",
  .function = 1 + LIG_FUNCTION_glu,
  .onnx = write_onnx,
};
