/* SPDX-License-Identifier: MIT */
/* y = weight[x] + position[row % T], in one writing. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "embedding_position", "x=0.x weight=0.weight position=1.weight y=1.y",
                    lig_lower_params (lowering, 1), lig_lower_params_size (lowering, 1));
}

/* Each rank would add the position to its part of the sum over the ranks. */
static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_fusion_reject_parts (match, "0.weight", rejection);
}

LIG_DEFINE_FUSION (forward_embedding_position) = {
  .size = sizeof (LigFusion),
  .name = "forward-embedding-position",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Looks up a row and adds that of the position in one writing"),
  .pattern = "embedding position-embedding",
  .allows = allows,
  .lower = lower,
};
