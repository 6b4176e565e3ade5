/* SPDX-License-Identifier: MIT */
/* The quantized copies of an activation or a norm, written as it is computed; its values are
 * written only if other ops read them. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "1.y", rejection) &&
         lig_lower_norm_fits (match, 0, rejection);
}

static void
lower (LigLowering *lowering)
{
  lig_lower_quantized (lowering, 0, "x=0.x y=0.y", "1.y");
}

LIG_DEFINE_FUSION (forward_quantize) = {
  .size = sizeof (LigFusion),
  .name = "forward-quantize",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Computes an activation or a norm and quantizes it in one pass"),
  .pattern = "@activation|@gated|layer-norm|rms-norm quantize",
  .allows = allows,
  .lower = lower,
};
