/* SPDX-License-Identifier: MIT */
/* y = 0.5 x (1 + erf (x / sqrt (2))), the form of GELU without an approximation. */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_gelu_erf);
}

LIG_DEFINE_OP (gelu_erf) = {
  LIG_OP_INFO_SIZES,
  .name = "gelu-erf",
  .title = N_ ("GELU, erf form"),
  .category = N_ ("Activation"),
  .summary = N_ ("Gaussian error linear unit in its exact form, PyTorch's nn.GELU()"),
  .formula = "y = 0.5 x (1 + erf (0.70710678 x))",
  .example = "gelu-erf @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "gelu_erf",
  .backward = "gelu_erf_backward",
  .form = N_ ("erf form"),
  .function = 1 + LIG_FUNCTION_gelu_erf,
  .onnx = write_onnx,
};
