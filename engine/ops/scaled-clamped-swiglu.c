/* SPDX-License-Identifier: MIT */
/* Clamped SwiGLU times a number per row, the weight of an expert, so that
 * summing the rows of a token needs no other pass over them. */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_SCALES_PARAM,
  LIG_CLAMPED_PARAMS,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set_scaled (onnx, lig_onnx_clamped_swiglu (onnx));
}

LIG_DEFINE_OP (scaled_clamped_swiglu) = {
  LIG_OP_INFO_SIZES,
  .name = "scaled-clamped-swiglu",
  .title = N_ ("Scaled clamped SwiGLU"),
  .category = N_ ("Experts"),
  .summary = N_ ("Clamped SwiGLU, multiplied by a number per row"),
  .formula =
    "y = scales a' sigmoid (alpha a') b', a' = min (a, limit), b' = clamp (b, limit) + offset",
  .example = "scaled-clamped-swiglu (limit=0.75) @ 3x8",
  .params = params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .extra_inputs = "scales",
  .saves = "x scales",
  .infer = lig_infer_scaled_gated,
  .forward = "scaled_clamped_swiglu",
  .backward = "scaled_clamped_swiglu_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
