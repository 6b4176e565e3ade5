/* SPDX-License-Identifier: MIT */
/* sum = x + extra and y = norm(sum), in one pass over memory; the sum is written only if it is
 * used. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean layer_norm = g_str_equal (lig_lower_op (lowering, 2), "layer-norm");
  /* The sum and its branch are one tensor: the norm's input. */
  lig_lower_alias (lowering, "0.y", "2.x");
  lig_lower_alias (lowering, "1.x", "2.x");
  lig_lower_alias (lowering, "1.extra", "2.x");
  lig_lower_kernel (lowering, layer_norm ? "add_layer_norm" : "add_rms_norm",
                    layer_norm ? "x=0.x extra=0.extra weight=2.weight bias=2.bias sum=2.x y=2.y "
                                 "mean=2.mean rstd=2.rstd"
                               : "x=0.x extra=0.extra weight=2.weight sum=2.x y=2.y rstd=2.rstd",
                    lig_lower_params (lowering, 2), lig_lower_params_size (lowering, 2));
}

LIG_DEFINE_FUSION (forward_add_norm) = {
  .size = sizeof (LigFusion),
  .name = "forward-add-norm",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the residual and normalizes in one pass"),
  .pattern = "add-extra-input [make-extra-output] layer-norm|rms-norm",
  .lower = lower,
};
