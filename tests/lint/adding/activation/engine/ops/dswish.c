/* SPDX-License-Identifier: MIT */
/* y = x sigmoid (2 x). */
#include "engine/ops/define.h"

LIG_DEFINE_OP (dswish) = {
  LIG_OP_INFO_SIZES,
  .name = "dswish",
  .title = N_ ("Double swish"),
  .category = N_ ("Activation"),
  .summary = N_ ("SiLU of twice the input, halved"),
  .formula = "y = x sigmoid (2 x)",
  .example = "dswish @ 3x8",
  .flags = LIG_OP_ACTIVATION,
  .saves = "x",
  .forward = "dswish",
  .backward = "dswish_backward",
};
