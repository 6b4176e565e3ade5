/* SPDX-License-Identifier: MIT */
/* y = act(x + bias) for any activation or gated unit. */
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
    g_strdelimit (g_strconcat ("bias_", lig_lower_op (lowering, 1), NULL), "-", '_');
  lig_lower_kernel (lowering, kernel, "x=0.x bias=0.bias sum=1.x y=1.y",
                    lig_lower_params (lowering, 1), lig_lower_params_size (lowering, 1));
}

LIG_DEFINE_FUSION (forward_bias_activation) = {
  .size = sizeof (LigFusion),
  .name = "forward-bias-activation",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the bias and applies the activation in one pass"),
  .pattern = "bias @activation|@gated",
  .allows = allows,
  .lower = lower,
};
