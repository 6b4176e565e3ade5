/* SPDX-License-Identifier: MIT */
/* dx = dy weight + branch gradient in one matmul; the weight's matmul gives the bias gradient. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean branch = lig_lower_has (lowering, "0.dextra");
  g_autofree char *bindings = g_strdup_printf ("dy=%d.dy weight=1.weight branch=0.dextra dx=0.dx",
                                               lig_fusion_matmul_end (lowering, 1));
  lig_fusion_weight_gradient (lowering, 1);
  lig_lower_kernel (lowering, branch ? "linear_backward_input_add" : "linear_backward_input",
                    bindings, NULL, 0);
}

LIG_DEFINE_FUSION (backward_linear_add) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-add",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Adds the branch gradient in the input-gradient matmul"),
  .pattern = "make-extra-output basic-linear [bias]",
  .gradients = "branch input -",
  .lower = lower,
};
