/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of the sum of x weight^T over the ranks: the other ranks' rows are computed
 * first, and are sent while this rank's own are computed. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_pieces_allow (match, 1, rejection) &&
         lig_lower_divides_copies (match, 0, "x", lig_pieces_of (match, 1).count, rejection);
}

/* Computes a part of the rows of the rank that is `step` after this one, and sends it there. */
static void
multiply_and_pass (LigLowering *lowering, const LigPieces *pieces, int step, int part)
{
  int to = (pieces->rank + step) % pieces->count;
  g_autofree char *place = lig_piece_name (pieces, "", to, part);
  g_autofree char *terms = lig_piece_name (pieces, "terms", lig_piece_before (pieces, step), part);
  g_autofree char *matmul = g_strdup_printf ("x=0.x%s weight=0.weight y=0.y%s", place, place);
  g_autofree char *pass = g_strdup_printf ("x=0.y%s y=%s", place, terms);
  lig_lower_kernel (lowering, "linear", matmul, NULL, 0);
  lig_pieces_pass (lowering, pieces, step, pass);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 1);
  lig_lower_value_like (lowering, "terms", "0.y");
  for (int i = pieces.each; i < pieces.count * pieces.each; i++)
    multiply_and_pass (lowering, &pieces, i / pieces.each, i % pieces.each);
  g_autofree char *own = g_strdup_printf ("x=0.x@%d/%d weight=0.weight y=terms@%d/%d", pieces.rank,
                                          pieces.count, pieces.rank, pieces.count);
  lig_lower_kernel (lowering, "linear", own, NULL, 0);
  lig_lower_kernel (lowering, "add_parts", "x=terms y=1.y", NULL, 0);
}

LIG_DEFINE_FUSION (forward_linear_reduce_scatter) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-reduce-scatter",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Overlaps the reduce-scatter of rows with the matmul"),
  .pattern = "basic-linear reduce-scatter",
  .allows = allows,
  .lower = lower,
  .min_pieces = 1,
};
