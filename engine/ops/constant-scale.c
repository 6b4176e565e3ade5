/* SPDX-License-Identifier: MIT */
/* y = scale x. */
#include "engine/ops/define.h"
#include <ligature/params-matmul.h>

static const LigParam params[] = {
  {LIG_PARAM_FLOAT, "scale", N_ ("Scale"), N_ ("The factor"), -3.4e38, 3.4e38, 1,
   LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL, G_STRUCT_OFFSET (LigScaleParams, factor), NULL},
  {.name = NULL},
};

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scale", "x=dy y=dx", NULL, 0);
}

static void
write_onnx (LigOnnx *onnx)
{
  const LigScaleParams *values = lig_onnx_get_params (onnx);
  const char *factor = lig_onnx_number (onnx, (double) values->factor);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Mul", lig_onnx_get (onnx, "x"), factor, NULL));
}

LIG_DEFINE_OP (constant_scale) = {
  LIG_OP_INFO_SIZES,
  .name = "constant-scale",
  .title = N_ ("Constant scale"),
  .category = N_ ("Other"),
  .summary = N_ ("Multiplies by a constant"),
  .formula = "y = scale x",
  .example = "constant-scale (-2.5) @ 4x13",
  .params = params,
  .params_size = sizeof (LigScaleParams),
  .kernel_params_size = sizeof (LigScaleParams),
  .forward = "scale",
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .short_title = N_ ("Scale"),
  .noun = N_ ("a scale"),
  .onnx = write_onnx,
};
