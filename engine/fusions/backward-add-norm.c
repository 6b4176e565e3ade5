/* SPDX-License-Identifier: MIT */
/* dx = norm gradient + branch gradient, in one pass over memory. */
#include "engine/fusions/define.h"

static void
lower (LigLowering *lowering)
{
  gboolean layer_norm = g_str_equal (lig_lower_op (lowering, 1), "layer-norm");
  gboolean branch = lig_lower_has (lowering, "0.dextra");
  g_autofree char *kernel =
    g_strconcat (layer_norm ? "layer" : "rms", "_norm_backward", branch ? "_add" : "", NULL);
  lig_lower_kernel (lowering, kernel,
                    layer_norm
                      ? "dy=1.dy branch=0.dextra x=1.x weight=1.weight mean=1.mean rstd=1.rstd "
                        "dx=0.dx dweight=1.dweight dbias=1.dbias"
                      : "dy=1.dy branch=0.dextra x=1.x weight=1.weight rstd=1.rstd dx=0.dx "
                        "dweight=1.dweight",
                    lig_lower_params (lowering, 1), lig_lower_params_size (lowering, 1));
}

LIG_DEFINE_FUSION (backward_add_norm) = {
  .size = sizeof (LigFusion),
  .name = "backward-add-norm",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Adds the branch gradient in the norm's backward"),
  .pattern = "make-extra-output layer-norm|rms-norm",
  .gradients = "branch gradient",
  .lower = lower,
};
