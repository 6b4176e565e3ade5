/* SPDX-License-Identifier: MIT */
/* y = a' sigmoid(alpha a') b', a' = min(a, limit), b' = clamp(b, limit) + offset, as in GPT-OSS.
 */
#include "engine/ops/gated.h"

static const LigParam params[] = {
  LIG_CLAMPED_PARAMS,
  {.name = NULL},
};

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_clamped_swiglu (onnx));
}

LIG_DEFINE_OP (clamped_swiglu) = {
  LIG_OP_INFO_SIZES,
  .name = "clamped-swiglu",
  .title = N_ ("Clamped SwiGLU"),
  .category = N_ ("Gated units"),
  .summary = N_ ("SwiGLU with both halves clamped, as in GPT-OSS"),
  .formula = "y = a' sigmoid (alpha a') b', a' = min (a, limit), b' = clamp (b, limit) + offset",
  .example = "clamped-swiglu (limit=0.75) @ 3x8",
  .flags = LIG_OP_GATED,
  .params = params,
  .params_size = sizeof (LigGatedParams),
  .kernel_params_size = sizeof (LigGatedParams),
  .saves = "x",
  .infer = lig_infer_gated,
  .forward = "clamped_swiglu",
  .backward = "clamped_swiglu_backward",
  .function = 1 + LIG_FUNCTION_clamped_swiglu,
  .onnx = write_onnx,
};
