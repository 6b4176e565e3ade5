/* SPDX-License-Identifier: MIT */
/* gelu's gradient and both bias gradients in the input-gradient matmul: the last bias's from the
 * gradient that the matmul reads, the first one's from the gradient that it writes. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean first = lig_lower_op (lowering, 0) != NULL;
  lig_lower_kernel (lowering, "linear_backward_weight", "dy=3.dy x=2.x dweight=2.dweight", NULL, 0);
  g_autofree char *bindings = g_strdup_printf (
    "dy=3.dy weight=2.weight x=1.x dx=%s dbias=0.dbias dlast=3.dbias", first ? "0.dx" : "1.dx");
  lig_lower_kernel (lowering, "linear_backward_input_gelu_bias", bindings, NULL, 0);
}

LIG_DEFINE_FUSION (backward_gelu_linear_biases) = {
  .size = sizeof (LigFusion),
  .name = "backward-gelu-linear-biases",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("GELU and both bias gradients in the input-gradient matmul"),
  .pattern = "[bias] gelu basic-linear bias",
  .gradients = "- gradient input bias",
  .lower = lower,
};
