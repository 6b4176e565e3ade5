/* SPDX-License-Identifier: MIT */
/* The quantized copy of y = gelu (x weight^T + bias), all in the epilogue of the matmul: for
 * evaluation, where nothing else reads the sum, y or a transposed copy, and with a scale that is
 * known in advance. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "3.y", rejection) &&
         lig_lower_fits_epilogue (match, 0, "3.y", rejection);
}

static void
lower (LigLowering *lowering)
{
  lig_lower_quantized_matmul (lowering, 0, "x=0.x weight=0.weight bias=1.bias", "3.y");
}

LIG_DEFINE_FUSION (forward_linear_bias_gelu_quantize) = {
  .size = sizeof (LigFusion),
  .name = "forward-linear-bias-gelu-quantize",
  .pass = LIG_PASS_FORWARD,
  .summary = N_ ("Adds the bias, applies GELU and quantizes in the matmul (evaluation only)"),
  .pattern = "basic-linear [bias] gelu quantize",
  .allows = allows,
  .lower = lower,
};
