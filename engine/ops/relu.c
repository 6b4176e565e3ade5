/* SPDX-License-Identifier: MIT */
/* y = max(x, 0); saves y, which the next matmul saves anyway. */
#include "engine/ops/define.h"

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
};
