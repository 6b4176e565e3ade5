/* SPDX-License-Identifier: MIT */
/* y = weight[x] + position[row % T], written once. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  if (lig_lower_has (lowering, "$starts")) {
    lig_lower_kernel (lowering, "embedding", "x=0.x weight=0.weight y=1.y",
                      lig_lower_params (lowering, 0), lig_lower_params_size (lowering, 0));
    lig_lower_kernel (lowering, "position_embedding_at",
                      "x=1.y weight=1.weight starts=$starts y=1.y", lig_lower_params (lowering, 1),
                      lig_lower_params_size (lowering, 1));
    return;
  }
  lig_lower_kernel (lowering, "embedding_position", "x=0.x weight=0.weight position=1.weight y=1.y",
                    lig_lower_params (lowering, 1), lig_lower_params_size (lowering, 1));
}

/* With a sharded vocabulary, each rank would add the position to its term of the sum. */
static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_fusion_reject_parts (match, "0.weight", rejection);
}

LIG_DEFINE_FUSION (forward_embedding_position) = {
  .size = sizeof (LigFusion),
  .name = "forward-embedding-position",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Looks up token and position embeddings and writes their sum once"),
  .pattern = "embedding position-embedding",
  .allows = allows,
  .lower = lower,
};
