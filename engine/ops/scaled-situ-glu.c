/* SPDX-License-Identifier: MIT */
/* SiTU-GLU times a number per row, the weight of an expert, so that summing the rows of
 * a token needs no other pass over them. */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_SCALES_PARAM,
  LIG_SITU_PARAMS,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set_scaled (onnx, lig_onnx_situ_glu (onnx));
}

LIG_DEFINE_OP (scaled_situ_glu) = {
  LIG_OP_INFO_SIZES,
  .name = "scaled-situ-glu",
  .title = N_ ("Scaled SiTU-GLU"),
  .category = N_ ("Experts"),
  .summary = N_ ("SiTU-GLU, multiplied by a number per row"),
  .formula = "y = scales beta1 tanh (a / beta1) sigmoid (a) beta2 tanh (b / beta2), x = [a, b]",
  .example = "scaled-situ-glu (beta1=3, beta2=12) @ 3x8",
  .params = params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .extra_inputs = "scales",
  .saves = "x scales",
  .infer = lig_infer_scaled_gated,
  .forward = "scaled_situ_glu",
  .backward = "scaled_situ_glu_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
