/* SPDX-License-Identifier: MIT */
/* The scale as a factor of the input-gradient and the weight-gradient matmuls. Under a recipe
 * these read quantized copies of the gradient before it is scaled. */
#include "engine/fusions/define.h"
#include <ligature/params-matmul.h>

enum { LINEAR, QUANTIZE, SCALE };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return !lig_lower_op (match, QUANTIZE) || lig_lower_is_quantized (match, "1.dx", rejection);
}

static void
lower (LigLowering *lowering)
{
  const void *scale = lig_lower_params (lowering, SCALE);
  const gboolean quantizes = lig_lower_op (lowering, QUANTIZE) != NULL;
  if (quantizes)
    lig_lower_quantize (lowering, "x=2.dy dbias=-", "1.dx");
  lig_lower_kernel (lowering, "linear_backward_weight",
                    quantizes ? "dy=1.dx x=0.x dweight=0.dweight"
                              : "dy=2.dy x=0.x dweight=0.dweight",
                    scale, sizeof (LigScaleParams));
  lig_lower_kernel (lowering, "linear_backward_input",
                    quantizes ? "dy=1.dx weight=0.weight dx=0.dx"
                              : "dy=2.dy weight=0.weight dx=0.dx",
                    scale, sizeof (LigScaleParams));
}

LIG_DEFINE_FUSION (backward_linear_scale) = {
  .size = sizeof (LigFusion),
  .name = "backward-linear-scale",
  .pass = LIG_PASS_BACKWARD,
  .summary = N_ ("Scales the gradients in the matmuls"),
  .pattern = "basic-linear [quantize] constant-scale",
  .gradients = "gradients - gradient",
  .allows = allows,
  .lower = lower,
};
