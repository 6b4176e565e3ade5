/* SPDX-License-Identifier: MIT */
/* The scale as a factor of the input-gradient and the weight-gradient products. */
#include "engine/fusions/define.h"
#include <ligature/params-product.h>

static void
lower (LigLowering *lowering)
{
  const void *scale = lig_lower_params (lowering, 1);
  lig_lower_kernel (lowering, "linear_backward_weight", "dy=1.dy x=0.x dweight=0.dweight", scale,
                    sizeof (LigScaleParams));
  lig_lower_kernel (lowering, "linear_backward_input", "dy=1.dy weight=0.weight dx=0.dx", scale,
                    sizeof (LigScaleParams));
}

LIG_DEFINE_FUSION (backward_linear_scale) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-scale",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Scales the gradients in the products"),
  .pattern = "basic-linear constant-scale",
  .gradients = "gradients gradient",
  .lower = lower,
};
