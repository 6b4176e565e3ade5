/* SPDX-License-Identifier: MIT */
/* SwiGLU times a number per row, the weight of an expert, so that summing the rows of
 * a token needs no other pass over them. */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_SCALES_PARAM,
  LIG_INTERLEAVE,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set_scaled (onnx, lig_onnx_gated (onnx, lig_onnx_silu));
}

LIG_DEFINE_OP (scaled_swiglu) = {
  LIG_OP_INFO_SIZES,
  .name = "scaled-swiglu",
  .title = N_ ("Scaled SwiGLU"),
  .category = N_ ("Experts"),
  .summary = N_ ("SwiGLU, multiplied by a number per row"),
  .formula = "y = scales a sigmoid (a) b, x = [a, b]",
  .example = "scaled-swiglu @ 3x8",
  .params = params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .extra_inputs = "scales",
  .saves = "x scales",
  .infer = lig_infer_scaled_gated,
  .forward = "scaled_swiglu",
  .backward = "scaled_swiglu_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
