/* SPDX-License-Identifier: MIT */
/* The weight-gradient matmul, which reads dy anyway, also computes the bias gradient. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "linear_backward_weight_bias",
                    "dy=1.dy x=0.x dweight=0.dweight dbias=1.dbias", NULL, 0);
  lig_lower_kernel (lowering, "linear_backward_input", "dy=1.dy weight=0.weight dx=0.dx", NULL, 0);
}

LIG_DEFINE_FUSION (backward_linear_bias) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-bias",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Bias gradient in the weight-gradient matmul"),
  .pattern = "basic-linear bias",
  .gradients = "weight bias",
  .lower = lower,
};
