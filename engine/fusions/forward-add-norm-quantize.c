/* SPDX-License-Identifier: MIT */
/* The quantized copies of norm (x + extra): one pass over memory writes the sum and computes the
 * statistics, the next one normalizes and quantizes. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "3.y", rejection) &&
         lig_lower_norm_fits (match, 2, rejection);
}

static void
lower (LigLowering *lowering)
{
  /* The sum and its branch are one tensor: the norm's input. */
  lig_lower_alias (lowering, "0.y", "2.x");
  lig_lower_alias (lowering, "1.x", "2.x");
  lig_lower_alias (lowering, "1.extra", "2.x");
  lig_lower_quantized (lowering, 2, "x=0.x extra=0.extra sum=2.x y=2.y", "3.y");
}

LIG_DEFINE_FUSION (forward_add_norm_quantize) = {
  .size = sizeof (LigFusion),
  .name = "forward-add-norm-quantize",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the residual, normalizes and quantizes in two passes"),
  .pattern = "add-extra-input [make-extra-output] layer-norm|rms-norm quantize",
  .allows = allows,
  .lower = lower,
};
