/* SPDX-License-Identifier: MIT */
/* The gradient of the gated unit of experts, and of the numbers that multiply its output, in the
 * epilogue of the input gradient of their second matmul. */
#include "engine/fusions/experts.h"

enum { UNIT, LINEAR };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_fusion_reject_apart (match, UNIT, lig_lower_columns (match, "0.x"), rejection);
}

static void
lower (LigLowering *lowering)
{
  g_autofree char *bindings =
    g_strdup_printf ("dy=1.dy weight=1.weight offsets=1.offsets x=0.x dx=0.dx %s",
                     lig_fusion_is_scaled (lowering, UNIT) ? "factors=0.scales dfactors=0.dscales"
                                                           : "factors=- dfactors=-");
  lig_lower_kernel (lowering, "grouped_backward_weight",
                    "dy=1.dy x=1.x offsets=1.offsets bias=1.bias scales=1.scales "
                    "dweight=1.dweight dbias=1.dbias dscales=1.dscales",
                    lig_lower_params (lowering, LINEAR), lig_lower_params_size (lowering, LINEAR));
  lig_fusion_grouped_gated (lowering, LINEAR, UNIT, "grouped_gated_backward_input", bindings);
}

LIG_DEFINE_FUSION (backward_gated_grouped_linear) = {
  .size = sizeof (LigFusion),
  .name = "backward-gated-grouped-linear",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Gradient of the gated unit of experts in their input-gradient matmul"),
  .pattern = "@gated|scaled-swiglu|scaled-clamped-swiglu|scaled-situ-glu grouped-linear",
  .gradients = "gradient input",
  .allows = allows,
  .lower = lower,
};
