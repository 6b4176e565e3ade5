/* SPDX-License-Identifier: MIT */
/* dx = act'(x) dy and dbias = its sum over rows, in one pass over memory. */
#include "engine/fusions/gated.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_fusion_reject_interleaved (match, 1, rejection);
}

static void
lower (LigLowering *lowering)
{
  g_autofree char *kernel =
    g_strdelimit (g_strconcat ("bias_", lig_lower_op (lowering, 1), "_backward", NULL), "-", '_');
  lig_lower_kernel (lowering, kernel, "dy=1.dy x=1.x y=1.y dx=0.dx dbias=0.dbias",
                    lig_lower_params (lowering, 1), lig_lower_params_size (lowering, 1));
}

LIG_DEFINE_FUSION (backward_activation_bias) = {
  .size = sizeof (LigFusion),
  .name = "backward-activation-bias",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Activation gradient and bias gradient in one pass"),
  .pattern = "bias @activation|@gated",
  .gradients = "bias gradient",
  .allows = allows,
  .lower = lower,
};
