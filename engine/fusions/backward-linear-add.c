/* SPDX-License-Identifier: MIT */
/* dx = dy weight + branch gradient in one product; the weight's product gives the bias gradient. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean bias = lig_lower_op (lowering, 2) != NULL;
  if (bias)
    lig_lower_kernel (lowering, "linear_backward_weight_bias",
                      "dy=2.dy x=1.x dweight=1.dweight dbias=2.dbias", NULL, 0);
  else
    lig_lower_kernel (lowering, "linear_backward_weight", "dy=1.dy x=1.x dweight=1.dweight", NULL,
                      0);
  if (lig_lower_has (lowering, "0.dextra"))
    lig_lower_kernel (lowering, "linear_backward_input_add",
                      bias ? "dy=2.dy weight=1.weight branch=0.dextra dx=0.dx"
                           : "dy=1.dy weight=1.weight branch=0.dextra dx=0.dx",
                      NULL, 0);
  else
    lig_lower_kernel (lowering, "linear_backward_input",
                      bias ? "dy=2.dy weight=1.weight dx=0.dx" : "dy=1.dy weight=1.weight dx=0.dx",
                      NULL, 0);
}

LIG_DEFINE_FUSION (backward_linear_add) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-add",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Adds the branch gradient in the input-gradient product"),
  .pattern = "make-extra-output basic-linear [bias]",
  .gradients = "branch input -",
  .lower = lower,
};
