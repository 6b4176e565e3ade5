/* SPDX-License-Identifier: MIT */
/* y = max(x, 0); saves y, which the next matmul saves anyway. */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_relu);
}

LIG_DEFINE_OP (relu) = {
  LIG_OP_INFO_SIZES,
  .name = "relu",
  .title = N_ ("ReLU"),
  .category = N_ ("Activation"),
  .summary = N_ ("Rectified linear unit: max (x, 0)"),
  .formula = "y = max (x, 0)",
  .example = "relu @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "y",
  .forward = "relu",
  .backward = "relu_backward",
  .function = 1 + LIG_FUNCTION_relu,
  .onnx = write_onnx,
};
