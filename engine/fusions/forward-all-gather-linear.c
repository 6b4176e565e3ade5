/* SPDX-License-Identifier: MIT */
/* y = act (x weight^T + bias) for the rows x of all ranks: each rank multiplies its own rows first,
 * while those of the others arrive. */
#include "engine/fusions/pieces.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_pieces_allow (match, 0, rejection) &&
         lig_lower_divides_copies (match, 1, NULL, 1, rejection);
}

/* Multiplies the rows `x`, whose place among all rows is `place`, like `@5/8`. */
static void
multiply (LigLowering *lowering, const char *x, const char *place)
{
  const char *activation = lig_lower_op (lowering, 3);
  const char *kernel = !activation ? lig_lower_op (lowering, 2) ? "linear_bias" : "linear"
                       : g_str_equal (activation, "gelu") ? "linear_bias_gelu"
                                                          : "linear_bias_relu";
  int last = activation ? 3 : lig_lower_op (lowering, 2) ? 2 : 1;
  g_autofree char *bindings =
    g_strdup_printf ("x=%s weight=1.weight bias=2.bias sum=3.x%s y=%d.y%s", x, place, last, place);
  lig_lower_kernel (lowering, kernel, bindings, NULL, 0);
}

static void
lower (LigLowering *lowering)
{
  const LigPieces pieces = lig_pieces_of (lowering, 0);
  lig_pieces_gather (lowering, &pieces, "0.x", "0.y", multiply);
}

LIG_DEFINE_FUSION (forward_all_gather_linear) = {
  .size = sizeof (LigFusion),
  .name = "forward-all-gather-linear",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Overlaps the all-gather of rows with the matmul"),
  .pattern = "all-gather basic-linear [bias] [gelu|relu]",
  .allows = allows,
  .lower = lower,
  .min_pieces = 1,
};
