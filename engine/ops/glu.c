/* SPDX-License-Identifier: MIT */
/* y = sigmoid (a) b, a the first half of the features, b the second. */
#include "engine/ops/define.h"

LIG_DEFINE_OP (glu) = {
  LIG_OP_INFO_SIZES,
  .name = "glu",
  .title = N_ ("GLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("Gated linear unit: the sigmoid of the first half gates the second"),
  .formula = "y = sigmoid (a) b, x = [a, b]",
  .example = "glu @ 3x8",
  .flags = LIG_OP_GATED,
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "glu",
  .backward = "glu_backward",
  .function = 1 + LIG_FUNCTION_glu,
};
