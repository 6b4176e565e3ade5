/* SPDX-License-Identifier: MIT */
/* y = a sigmoid (1.702 a) b, a the first half of the features, b the second. */
#include "engine/ops/gated.h"

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_gated (onnx, lig_onnx_qgelu));
}

LIG_DEFINE_OP (qgeglu) = {
  LIG_OP_INFO_SIZES,
  .name = "qgeglu",
  .title = N_ ("Quick GEGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("Quick GELU of the first half gates the second"),
  .formula = "y = a sigmoid (1.702 a) b, x = [a, b]",
  .example = "qgeglu @ 3x8",
  .flags = LIG_OP_GATED,
  .params = lig_gated_params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "qgeglu",
  .backward = "qgeglu_backward",
  .function = 1 + LIG_FUNCTION_qgeglu,
  .onnx = write_onnx,
};
