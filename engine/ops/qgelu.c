/* SPDX-License-Identifier: MIT */
/* y = x sigmoid(1.702 x). */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_qgelu);
}

LIG_DEFINE_OP (qgelu) = {
  LIG_OP_INFO_SIZES,
  .name = "qgelu",
  .title = N_ ("Quick GELU"),
  .category = N_ ("Activation"),
  .summary = N_ ("A cheaper GELU: x sigmoid(1.702 x)"),
  .formula = "y = x sigmoid (1.702 x)",
  .example = "qgelu @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "qgelu",
  .backward = "qgelu_backward",
  .function = 1 + LIG_FUNCTION_qgelu,
  .onnx = write_onnx,
};
