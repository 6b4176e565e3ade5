/* SPDX-License-Identifier: MIT */
/* dx = norm gradient + branch gradient, its quantized copies for the preceding matmul, and that
 * matmul's bias gradient in the same pass over memory. */
#include "engine/fusions/define.h"

enum { QUANTIZE, LAST_BIAS, ADD, BRANCH, NORM };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "0.dx", rejection) &&
         lig_lower_norm_fits (match, NORM, rejection);
}

static void
lower (LigLowering *lowering)
{
  const char *dx = lig_lower_op (lowering, BRANCH) ? "3.dx" : "4.dx";
  g_autofree char *bindings =
    g_strdup_printf ("dy=4.dy branch=3.dextra x=4.x dx=%s dlast=1.dbias", dx);
  lig_lower_quantized (lowering, NORM, bindings, "0.dx");
  /* The gradient of the sum is that of both of its inputs. */
  lig_lower_alias (lowering, "2.dx", dx);
  lig_lower_alias (lowering, "2.dextra", dx);
}

LIG_DEFINE_FUSION (backward_norm_quantize) = {
  .size = sizeof (LigFusion),
  .name = "backward-norm-quantize",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Norm, branch and preceding bias gradients, quantized in one pass"),
  .pattern = "quantize [bias] [add-extra-input] [make-extra-output] layer-norm|rms-norm",
  .gradients = "- bias - branch gradient",
  .allows = allows,
  .lower = lower,
};
