/* SPDX-License-Identifier: MIT */
/* y = a sigmoid (a) b, a the first half of the features, b the second. */
#include "engine/ops/gated.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_gated (onnx, lig_onnx_silu));
}

LIG_DEFINE_OP (swiglu) = {
  LIG_OP_INFO_SIZES,
  .name = "swiglu",
  .title = N_ ("SwiGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("SiLU of the first half gates the second"),
  .formula = "y = a sigmoid (a) b, x = [a, b]",
  .example = "swiglu @ 3x8",
  .flags = LIG_OP_GATED,
  .params = lig_gated_params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "swiglu",
  .backward = "swiglu_backward",
  .function = 1 + LIG_FUNCTION_swiglu,
  .onnx = write_onnx,
};
