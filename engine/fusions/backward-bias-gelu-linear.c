/* SPDX-License-Identifier: MIT */
/* gelu's gradient and the first bias's gradient in the epilogue of the input-gradient matmul. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  g_autofree char *bindings = g_strdup_printf ("dy=%d.dy weight=2.weight x=1.x dx=%s dbias=0.dbias",
                                               lig_fusion_matmul_end (lowering, 2),
                                               lig_lower_op (lowering, 0) ? "0.dx" : "1.dx");
  lig_fusion_weight_gradient (lowering, 2);
  lig_lower_kernel (lowering, "linear_backward_input_gelu", bindings, NULL, 0);
}

LIG_DEFINE_FUSION (backward_bias_gelu_linear) = {
  .size = sizeof (LigFusion),
  .name = "backward-bias-gelu-linear",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("GELU and bias gradients in the input-gradient matmul"),
  .pattern = "[bias] gelu basic-linear [bias]",
  .gradients = "- gradient input -",
  .lower = lower,
};
