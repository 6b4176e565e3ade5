/* SPDX-License-Identifier: MIT */
/* y = max(x, 0)^2. */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_srelu);
}

LIG_DEFINE_OP (srelu) = {
  LIG_OP_INFO_SIZES,
  .name = "srelu",
  .title = N_ ("Squared ReLU"),
  .category = N_ ("Activation"),
  .summary = N_ ("The square of ReLU"),
  .formula = "y = max (x, 0)^2",
  .example = "srelu @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "srelu",
  .backward = "srelu_backward",
  .function = 1 + LIG_FUNCTION_srelu,
  .onnx = write_onnx,
};
