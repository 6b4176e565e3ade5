/* SPDX-License-Identifier: MIT */
/* The gradients of a matmul before a reduce-scatter: the gradients of other ranks' rows arrive
 * while the current ones are multiplied. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_pieces_allow (match, 1, rejection) &&
         lig_lower_divides_copies (match, 0, NULL, 1, rejection);
}

static void
multiply (LigLowering *lowering, const char *dy, const char *place)
{
  g_autofree char *bindings = g_strdup_printf ("dy=%s weight=0.weight dx=0.dx%s", dy, place);
  lig_lower_kernel (lowering, "linear_backward_input", bindings, NULL, 0);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 1);
  lig_pieces_gather (lowering, &pieces, "1.dy", "1.dx",
                     lig_lower_has (lowering, "0.dx") ? multiply : NULL);
  lig_lower_kernel (lowering, "linear_backward_weight", "dy=1.dx x=0.x dweight=0.dweight", NULL, 0);
}

LIG_DEFINE_FUSION (backward_all_gather_linear) = {
  .size = sizeof (LigFusion),
  .name = "backward-all-gather-linear",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Overlaps the all-gather of gradients with the gradient matmuls"),
  .pattern = "basic-linear reduce-scatter",
  .gradients = "gradients gradient",
  .allows = allows,
  .lower = lower,
  .min_pieces = 1,
};
