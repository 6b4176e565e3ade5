/* SPDX-License-Identifier: MIT */
/* y = x weight^T + bias + extra in one matmul. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "linear_bias_add",
                    "x=0.x weight=0.weight bias=1.bias extra=2.extra y=2.y", NULL, 0);
}

LIG_DEFINE_FUSION (forward_linear_bias_add) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-bias-add",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds bias and residual in the matmul"),
  .pattern = "basic-linear [bias] add-extra-input",
  .lower = lower,
};
