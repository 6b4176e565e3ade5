/* SPDX-License-Identifier: MIT */
/* The gradients of a matmul after an all-gather: the input gradients are reduce-scattered while the
 * weight gradient is computed. */
#include "engine/fusions/pieces.h"

/* Each rank has different columns of the weight, so the input gradients are summed. */
static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  const LigPieces pieces = lig_pieces_of (match, 0);
  if (!lig_pieces_allow (match, 0, rejection))
    return FALSE;
  if (lig_lower_count_parts (match, "1.weight") == pieces.count)
    return TRUE;
  rejection->reason = LIG_REASON_PARALLEL;
  rejection->observed = g_strdup ("an unsharded weight");
  rejection->required = g_strdup ("parallel=column");
  return FALSE;
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 0);
  g_autofree char *matmul =
    g_strdup_printf ("dy=%d.dy weight=1.weight dx=1.dx", lig_fusion_matmul_end (lowering, 1));
  if (lig_lower_has (lowering, "0.dx")) {
    lig_lower_kernel (lowering, "linear_backward_input", matmul, NULL, 0);
    lig_lower_beside (lowering, "reduce_scatter", "x=1.dx y=0.dx", &pieces.params,
                      sizeof pieces.params);
  }
  lig_fusion_weight_gradient (lowering, 1);
}

LIG_DEFINE_FUSION (backward_linear_reduce_scatter) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-reduce-scatter",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Overlaps the reduce-scatter of input gradients with the weight gradient"),
  .pattern = "all-gather basic-linear [bias]",
  .gradients = "gradient weight bias",
  .allows = allows,
  .lower = lower,
};
