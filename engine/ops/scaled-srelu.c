/* SPDX-License-Identifier: MIT */
/* Squared ReLU times a number per row, the weight of an expert, so that summing the
 * rows of a token needs no other pass over them. */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_SCALES_PARAM,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set_scaled (onnx, lig_onnx_srelu (onnx, lig_onnx_get (onnx, "x")));
}

LIG_DEFINE_OP (scaled_srelu) = {
  LIG_OP_INFO_SIZES,
  .name = "scaled-srelu",
  .title = N_ ("Scaled squared ReLU"),
  .category = N_ ("Experts"),
  .summary = N_ ("Squared ReLU, multiplied by a number per row"),
  .formula = "y = scales max (x, 0)^2",
  .example = "scaled-srelu @ 3x8",
  .params = params,
  .extra_inputs = "scales",
  .saves = "x scales",
  .infer = lig_infer_scales,
  .forward = "scaled_srelu",
  .backward = "scaled_srelu_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
