/* SPDX-License-Identifier: MIT */
/* y = the sum of x weight^T over the ranks, by parts of the rows: those that are computed are added
 * up while the next ones are multiplied. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRefusal *refusal)
{
  return lig_pieces_allow (match, 1, refusal) &&
         lig_pieces_allow_of (match, 1, "output", refusal) &&
         lig_pieces_allow_rows (match, "0.x", refusal) &&
         lig_lower_divides_copies (match, 0, "x", 2, refusal);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 1);
  int parts = pieces.each;
  for (int i = 0; i < parts; i++) {
    g_autofree char *product =
      g_strdup_printf ("x=0.x@%d/%d weight=0.weight y=0.y@%d/%d", i, parts, i, parts);
    g_autofree char *sum = g_strdup_printf ("x=0.y@%d/%d y=1.y@%d/%d", i, parts, i, parts);
    lig_lower_kernel (lowering, "linear", product, NULL, 0);
    lig_lower_beside (lowering, "all_reduce", sum, &pieces.params, sizeof pieces.params);
  }
}

LIG_DEFINE_FUSION (forward_linear_all_reduce) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-all-reduce",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds up some rows over the ranks while it multiplies the next"),
  .pattern = "basic-linear all-reduce",
  .allows = allows,
  .lower = lower,
  .least_pieces = 2,
};
