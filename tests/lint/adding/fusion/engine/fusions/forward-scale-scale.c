/* SPDX-License-Identifier: MIT */
/* Multiplies by the product of two factors. */
#include "engine/fusions/define.h"
#include <ligature/lowering.h>
#include <ligature/params-matmul.h>

static void
lower (LigLowering *lowering)
{
  const LigScaleParams *first = lig_lower_params (lowering, 0);
  const LigScaleParams *second = lig_lower_params (lowering, 1);
  LigScaleParams both = {.factor = first->factor * second->factor};
  lig_lower_kernel (lowering, "scale", "x=0.x y=1.y", &both, sizeof both);
}

LIG_DEFINE_FUSION (forward_scale_scale) = {
  .size = sizeof (LigFusion),
  .name = "forward-scale-scale",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Multiplies by both factors at once"),
  .pattern = "constant-scale constant-scale",
  .lower = lower,
};
