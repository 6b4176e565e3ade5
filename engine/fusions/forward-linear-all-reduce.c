/* SPDX-License-Identifier: MIT */
/* y = the sum of x weight^T over the ranks, in parts of the rows: one part is all-reduced while the
 * next one is multiplied. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_pieces_allow (match, 1, rejection) &&
         lig_pieces_allow_of (match, 1, "output", rejection) &&
         lig_pieces_allow_rows (match, "0.x", rejection) &&
         lig_lower_divides_copies (match, 0, "x", 2, rejection);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 1);
  lig_pieces_sum (lowering, &pieces, "linear", "x=0.x@ weight=0.weight y=0.y@", "x=0.y@ y=1.y@");
}

LIG_DEFINE_FUSION (forward_linear_all_reduce) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-all-reduce",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Overlaps the all-reduce of rows with the matmul"),
  .pattern = "basic-linear all-reduce",
  .allows = allows,
  .lower = lower,
  .min_pieces = 2,
};
