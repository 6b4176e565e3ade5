/* SPDX-License-Identifier: MIT */
/* y = x, the same memory. */
#include "engine/ops/define.h"

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "y", "x");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
}

LIG_DEFINE_OP (identity) = {
  LIG_OP_INFO_SIZES,
  .name = "identity",
  .title = N_ ("Identity"),
  .category = N_ ("Other"),
  .summary = N_ ("Returns its input"),
  .formula = "y = x",
  .example = "identity @ 4x8",
  .flags = LIG_OP_TRANSPARENT | LIG_OP_ANY_TYPE,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .onnx = lig_onnx_pass_x,
};
