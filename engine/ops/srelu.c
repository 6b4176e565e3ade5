/* SPDX-License-Identifier: MIT */
/* y = max(x, 0)^2. */
#include "engine/ops/define.h"

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
};
