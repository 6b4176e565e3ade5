/* SPDX-License-Identifier: MIT */
/* y = this rank's rows of the sum of x weight^T over the ranks: the rows of the others are computed
 * first, and are on their way while this rank's own are computed. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRefusal *refusal)
{
  return lig_pieces_allow (match, 1, refusal);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 1);
  int n = pieces.count, own = pieces.rank;
  lig_lower_value_like (lowering, "terms", "0.y");
  for (int step = 1; step < n; step++) {
    int to = (own + step) % n;
    g_autofree char *product =
      g_strdup_printf ("x=0.x@%d/%d weight=0.weight y=0.y@%d/%d", to, n, to, n);
    g_autofree char *pass =
      g_strdup_printf ("x=0.y@%d/%d y=terms@%d/%d", to, n, lig_piece_before (&pieces, step), n);
    lig_lower_kernel (lowering, "linear", product, NULL, 0);
    lig_pieces_pass (lowering, &pieces, step, pass);
  }
  g_autofree char *product =
    g_strdup_printf ("x=0.x@%d/%d weight=0.weight y=terms@%d/%d", own, n, own, n);
  lig_lower_kernel (lowering, "linear", product, NULL, 0);
  lig_lower_kernel (lowering, "add_parts", "x=terms y=1.y", NULL, 0);
}

LIG_DEFINE_FUSION (forward_linear_reduce_scatter) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-reduce-scatter",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Sends the rows of other ranks while it computes its own"),
  .pattern = "basic-linear reduce-scatter",
  .allows = allows,
  .lower = lower,
};
