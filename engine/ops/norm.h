/* SPDX-License-Identifier: MIT */
/* Parts that both norms share. */
#pragma once

#include "engine/ops/define.h"
#include <ligature/params-norm.h>

/* The params and the shape inference of both norms. */
typedef struct {
  LigNormParams kernel;
  LigShape normalized_shape;
} LigNormOpParams;

gboolean lig_infer_norm (LigInfer *infer, GError **error);

/* Returns the gain in an ONNX graph. */
static inline const char *
lig_onnx_gain (LigOnnx *onnx)
{
  const LigNormParams *values = lig_onnx_get_params (onnx);
  const char *weight = lig_onnx_get (onnx, "weight");
  return values->zero_centered
           ? lig_onnx_node (onnx, "Add", weight, lig_onnx_number (onnx, 1), NULL)
           : weight;
}

/* The params of a norm. `added`: the help of the epsilon */
#define LIG_NORM_PARAMS(added) \
  {LIG_PARAM_SHAPE, \
   "normalized-shape", \
   N_ ("Normalized shape"), \
   N_ ("The last axes that are normalized together; default: the last one"), \
   1, \
   G_MAXINT32, \
   0, \
   LIG_PARAM_INFERRED | LIG_PARAM_POSITIONAL, \
   G_STRUCT_OFFSET (LigNormOpParams, normalized_shape), \
   NULL}, \
    LIG_FLOAT (LigNormOpParams, kernel.eps, "eps", N_ ("Epsilon"), added, 0, 1, 1e-5), \
    LIG_BOOLEAN (LigNormOpParams, kernel.zero_centered, "zero-centered-gamma", \
                 N_ ("Zero-centered gamma"), \
                 N_ ("The gain is 1 + weight, and weight is initialized to 0"), FALSE), \
  { \
    .name = NULL \
  }
