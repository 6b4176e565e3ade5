/* SPDX-License-Identifier: MIT */
/* y = beta1 tanh (a / beta1) sigmoid (a) beta2 tanh (b / beta2): a gated unit both of whose factors
 * are bounded. */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_SITU_PARAMS,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_situ_glu (onnx));
}

LIG_DEFINE_OP (situ_glu) = {
  LIG_OP_INFO_SIZES,
  .name = "situ-glu",
  .title = N_ ("SiTU-GLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("SiLU of a bounded gate times a bounded linear half"),
  .formula = "y = beta1 tanh (a / beta1) sigmoid (a) beta2 tanh (b / beta2), x = [a, b]",
  .example = "situ-glu (beta1=3, beta2=12) @ 3x8",
  .flags = LIG_OP_GATED,
  .params = params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "situ_glu",
  .backward = "situ_glu_backward",
  .function = 1 + LIG_FUNCTION_situ_glu,
  .onnx = write_onnx,
};
