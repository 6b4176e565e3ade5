/* SPDX-License-Identifier: MIT */
/* y = 0.5 x (1 + tanh(0.79788456 x + 0.03567741 x^3)), the tanh form of GELU. */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_gelu);
}

LIG_DEFINE_OP (gelu) = {
  LIG_OP_INFO_SIZES,
  .name = "gelu",
  .title = N_ ("GELU"),
  .category = N_ ("Activation"),
  .summary = N_ ("Gaussian error linear unit in its tanh form"),
  .formula = "y = 0.5 x (1 + tanh (0.79788456 x + 0.03567741 x^3))",
  .example = "gelu @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "gelu",
  .backward = "gelu_backward",
  .form = N_ ("tanh form"),
  .function = 1 + LIG_FUNCTION_gelu,
  .onnx = write_onnx,
};
