/* SPDX-License-Identifier: MIT */
/* gelu's gradient and the first bias's gradient in the epilogue of the input-gradient product. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean first = lig_lower_op (lowering, 0) != NULL, last = lig_lower_op (lowering, 3) != NULL;
  if (last)
    lig_lower_kernel (lowering, "linear_backward_weight_bias",
                      "dy=3.dy x=2.x dweight=2.dweight dbias=3.dbias", NULL, 0);
  else
    lig_lower_kernel (lowering, "linear_backward_weight", "dy=2.dy x=2.x dweight=2.dweight", NULL,
                      0);
  g_autofree char *bindings = g_strdup_printf ("dy=%s weight=2.weight x=1.x dx=%s dbias=0.dbias",
                                               last ? "3.dy" : "2.dy", first ? "0.dx" : "1.dx");
  lig_lower_kernel (lowering, "linear_backward_input_gelu", bindings, NULL, 0);
}

LIG_DEFINE_FUSION (backward_bias_gelu_linear) = {
  .size = sizeof (LigFusion),
  .name = "backward-bias-gelu-linear",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("GELU and bias gradients in the input-gradient product"),
  .pattern = "[bias] gelu basic-linear [bias]",
  .gradients = "- gradient input -",
  .lower = lower,
};
