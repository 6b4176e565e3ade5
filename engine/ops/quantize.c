/* SPDX-License-Identifier: MIT */
/* Rounds values to the format of the recipe in effect. The compiler puts one before each matmul
 * that a recipe quantizes, for its input, and one after it, for the gradient of its output; these
 * only write the copies that the matmuls read. */
#include "engine/ops/define.h"

typedef struct {
  bool forward, backward;
} QuantizeParams;

static const LigParam params[] = {
  LIG_BOOLEAN (QuantizeParams,
               forward,
               "forward",
               N_ ("Forward"),
               N_ ("Quantizes the values with their current amax, without an amax history"),
               TRUE),
  LIG_BOOLEAN (
    QuantizeParams, backward, "backward", N_ ("Backward"), N_ ("Quantizes their gradients"), FALSE),
  {.name = NULL},
};

static void
lower_forward (LigLowering *lowering)
{
  if (!lig_lower_quantize (lowering, "x=x dbias=-", "y"))
    lig_lower_alias (lowering, "y", "x");
}

static void
lower_backward (LigLowering *lowering)
{
  if (!lig_lower_quantize (lowering, "x=dy dbias=-", "dx"))
    lig_lower_alias (lowering, "dx", "dy");
}

LIG_DEFINE_OP (quantize) = {
  LIG_OP_INFO_SIZES,
  .name = "quantize",
  .title = N_ ("Quantize"),
  .category = N_ ("Other"),
  .summary = N_ ("Rounds values, or their gradients, to the format of the recipe in effect"),
  .formula = "y = round (x scale) / scale; dx = dy",
  .example = "quantize(backward=true) @ 16x32",
  .flags = LIG_OP_QUANTIZES,
  .params = params,
  .params_size = sizeof (QuantizeParams),
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .onnx = lig_onnx_pass_x,
};
