/* SPDX-License-Identifier: MIT */
/* y = act(x weight^T + bias), the activation in the epilogue of the matmul; the input of gelu is
 * kept for backward. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  const char *activation = lig_lower_op (lowering, 2);
  if (!activation)
    lig_lower_kernel (lowering, "linear_bias", "x=0.x weight=0.weight bias=1.bias y=1.y", NULL, 0);
  else if (g_str_equal (activation, "gelu"))
    lig_lower_kernel (lowering, "linear_bias_gelu",
                      "x=0.x weight=0.weight bias=1.bias sum=2.x y=2.y", NULL, 0);
  else
    lig_lower_kernel (lowering, "linear_bias_relu", "x=0.x weight=0.weight bias=1.bias y=2.y", NULL,
                      0);
}

LIG_DEFINE_FUSION (forward_linear_bias_activation) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-bias-activation",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the bias and applies the activation in the matmul"),
  .pattern = "basic-linear [bias] [gelu|relu]",
  .lower = lower,
};
