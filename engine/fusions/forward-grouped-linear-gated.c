/* SPDX-License-Identifier: MIT */
/* The gated unit of experts in the epilogue of their first matmul; the unit's input is kept for
 * backward. */
#include "engine/fusions/experts.h"

enum { LINEAR, UNIT };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_fusion_reject_apart (match, UNIT, lig_lower_columns (match, "1.x"), rejection);
}

static void
lower (LigLowering *lowering)
{
  g_autofree char *bindings =
    g_strdup_printf ("x=0.x weight=0.weight offsets=0.offsets bias=0.bias scales=0.scales "
                     "factors=%s sum=1.x y=1.y",
                     lig_fusion_is_scaled (lowering, UNIT) ? "1.scales" : "-");
  lig_fusion_grouped_gated (lowering, LINEAR, UNIT, "grouped_linear_gated", bindings);
}

LIG_DEFINE_FUSION (forward_grouped_linear_gated) = {
  .size = sizeof (LigFusion),
  .name = "forward-grouped-linear-gated",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Applies the gated unit of experts in their matmul"),
  .pattern = "grouped-linear @gated|scaled-swiglu|scaled-clamped-swiglu|scaled-situ-glu",
  .allows = allows,
  .lower = lower,
};
