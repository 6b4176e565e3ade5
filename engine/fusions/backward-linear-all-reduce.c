/* SPDX-License-Identifier: MIT */
/* The gradients of a matmul whose input gradient is summed over the ranks: parts of it are
 * all-reduced while the other parts and the weight gradient are computed. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_pieces_allow (match, 0, rejection) &&
         lig_pieces_allow_of (match, 0, "gradient", rejection) &&
         lig_pieces_allow_rows (match, "0.x", rejection) &&
         lig_lower_divides_copies (match, 1, "dy", 2, rejection);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 0);
  g_autofree char *matmul =
    g_strdup_printf ("dy=%d.dy@ weight=1.weight dx=1.dx@", lig_fusion_matmul_end (lowering, 1));
  if (lig_lower_has (lowering, "0.dx"))
    lig_pieces_sum (lowering, &pieces, "linear_backward_input", matmul, "x=1.dx@ y=0.dx@");
  lig_fusion_weight_gradient (lowering, 1);
}

LIG_DEFINE_FUSION (backward_linear_all_reduce) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-all-reduce",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Overlaps the all-reduce of input gradients with the weight gradient"),
  .pattern = "all-reduce basic-linear [bias]",
  .gradients = "gradient weight bias",
  .allows = allows,
  .lower = lower,
  .min_pieces = 2,
};
