/* SPDX-License-Identifier: MIT */
/* The quantized copies of an activation of x + bias, written as they are computed; the sum and the
 * values are written only if other ops read them. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "2.y", rejection);
}

static void
lower (LigLowering *lowering)
{
  lig_lower_quantized (lowering, 1, "x=0.x bias=0.bias sum=1.x y=1.y", "2.y");
}

LIG_DEFINE_FUSION (forward_bias_activation_quantize) = {
  .size = sizeof (LigFusion),
  .name = "forward-bias-activation-quantize",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the bias, applies the activation and quantizes in one pass"),
  .pattern = "bias @activation quantize",
  .allows = allows,
  .lower = lower,
};
