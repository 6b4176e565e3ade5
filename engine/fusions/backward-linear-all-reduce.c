/* SPDX-License-Identifier: MIT */
/* The gradients of a product before which gradients are added up over the ranks: the sums of parts
 * of the input gradient are on their way while the others and the weight gradient are computed. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRefusal *refusal)
{
  return lig_pieces_allow (match, 0, refusal) &&
         lig_pieces_allow_of (match, 0, "gradient", refusal) &&
         lig_pieces_allow_rows (match, "0.x", refusal) &&
         lig_lower_divides_copies (match, 1, "dy", 2, refusal);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 0);
  int parts = lig_lower_has (lowering, "0.dx") ? pieces.each : 0;
  gboolean bias = lig_lower_op (lowering, 2) != NULL;
  for (int i = 0; i < parts; i++) {
    g_autofree char *product = g_strdup_printf ("dy=%d.dy@%d/%d weight=1.weight dx=1.dx@%d/%d",
                                                bias ? 2 : 1, i, parts, i, parts);
    g_autofree char *sum = g_strdup_printf ("x=1.dx@%d/%d y=0.dx@%d/%d", i, parts, i, parts);
    lig_lower_kernel (lowering, "linear_backward_input", product, NULL, 0);
    lig_lower_beside (lowering, "all_reduce", sum, &pieces.params, sizeof pieces.params);
  }
  if (bias)
    lig_lower_kernel (lowering, "linear_backward_weight_bias",
                      "dy=2.dy x=1.x dweight=1.dweight dbias=2.dbias", NULL, 0);
  else
    lig_lower_kernel (lowering, "linear_backward_weight", "dy=1.dy x=1.x dweight=1.dweight", NULL,
                      0);
}

LIG_DEFINE_FUSION (backward_linear_all_reduce) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-all-reduce",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Adds up input gradients over the ranks while it computes the weight gradient"),
  .pattern = "all-reduce basic-linear [bias]",
  .gradients = "gradient weight bias",
  .allows = allows,
  .lower = lower,
  .least_pieces = 2,
};
