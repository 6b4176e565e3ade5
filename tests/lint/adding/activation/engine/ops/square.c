/* SPDX-License-Identifier: MIT */
/* y = x^2. */
#include "engine/ops/define.h"

LIG_DEFINE_OP (square) = {
  LIG_OP_INFO_SIZES,
  .name = "square",
  .title = N_ ("Square"),
  .category = N_ ("Activation"),
  .summary = N_ ("Squares each element"),
  .formula = "y = x^2",
  .example = "square @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "square",
  .backward = "square_backward",
  .function = 1 + LIG_FUNCTION_square,
};
