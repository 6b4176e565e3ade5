/* SPDX-License-Identifier: MIT */
/* The quantized copies of an activation's gradient, written as it is computed, or of an existing
 * gradient; the bias gradient in the same pass over memory. */
#include "engine/fusions/gated.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "0.dx", rejection) &&
         !lig_fusion_reject_interleaved (match, 2, rejection);
}

static void
lower (LigLowering *lowering)
{
  if (lig_lower_op (lowering, 2))
    lig_lower_quantized (lowering, 2, "dy=2.dy x=2.x y=2.y dx=- dbias=1.dbias", "0.dx");
  else
    lig_lower_quantize (lowering, "x=1.dy dbias=1.dbias", "0.dx");
}

LIG_DEFINE_FUSION (backward_quantize) = {
  .size = sizeof (LigFusion),
  .name = "backward-quantize",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Activation and bias gradients, quantized in one pass"),
  .pattern = "quantize [bias] [@activation|@gated]",
  .gradients = "- bias gradient",
  .allows = allows,
  .lower = lower,
};
