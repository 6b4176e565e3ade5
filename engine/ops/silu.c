/* SPDX-License-Identifier: MIT */
/* y = x sigmoid(x). */
#include "engine/ops/define.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_activate (onnx, lig_onnx_silu);
}

LIG_DEFINE_OP (silu) = {
  LIG_OP_INFO_SIZES,
  .name = "silu",
  .title = N_ ("SiLU"),
  .category = N_ ("Activation"),
  .summary = N_ ("Sigmoid linear unit, also called swish"),
  .formula = "y = x sigmoid (x)",
  .example = "silu @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "silu",
  .backward = "silu_backward",
  .function = 1 + LIG_FUNCTION_silu,
  .onnx = write_onnx,
};
