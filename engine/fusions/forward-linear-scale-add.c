/* SPDX-License-Identifier: MIT */
/* y = scale x weight^T + extra in one matmul. */
#include "engine/fusions/define.h"
#include <ligature/params-matmul.h>

static void
lower (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "linear_bias_add", "x=0.x weight=0.weight bias=- extra=2.extra y=2.y",
                    lig_lower_params (lowering, 1), sizeof (LigScaleParams));
}

LIG_DEFINE_FUSION (forward_linear_scale_add) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-scale-add",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Scales and adds the residual in the matmul"),
  .pattern = "basic-linear constant-scale add-extra-input",
  .lower = lower,
};
