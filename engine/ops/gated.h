/* SPDX-License-Identifier: MIT */
/* Parameters and shape rules of gated units, scaled or not. */
#pragma once

#include "engine/ops/define.h"
#include <ligature/params-gated.h>

/* Infers the shape of a gated unit, whose params are LigGatedParams: y has half the features of
 * x. */
gboolean lig_infer_gated (LigInfer *infer, GError **error);

/* Infers the numbers by which the rows of y are multiplied, the extra input `scales`. */
gboolean lig_infer_scales (LigInfer *infer, GError **error);

/* Both, for a gated unit whose output is scaled. */
gboolean lig_infer_scaled_gated (LigInfer *infer, GError **error);

/* The table of a gated unit that has no other parameters. */
extern const LigParam lig_gated_params[];

#define LIG_INTERLEAVE \
  LIG_INT (LigGatedParams, interleave, "interleave", N_ ("Interleave"), \
           N_ ("Length of the blocks in which the columns of both halves alternate; 0: all of " \
               "the first half, then all of the second"), \
           0, LIG_MAX_FEATURES, 0, 0)

/* The parameters of clamped SwiGLU and of SiTU-GLU. */
#define LIG_CLAMPED_PARAMS \
  LIG_FLOAT (LigGatedParams, limit, "limit", N_ ("Limit"), \
             N_ ("Upper bound of the gate, and two-sided bound of the linear half"), 1e-6, 1e6, \
             7), \
    LIG_FLOAT (LigGatedParams, alpha, "alpha", N_ ("Alpha"), N_ ("Slope inside the sigmoid"), \
               -1e3, 1e3, 1.702), \
    LIG_FLOAT (LigGatedParams, offset, "glu-linear-offset", N_ ("Offset"), \
               N_ ("Added to the linear half after its clamp"), -1e6, 1e6, 1), \
    LIG_INTERLEAVE
#define LIG_SITU_PARAMS \
  LIG_FLOAT (LigGatedParams, beta1, "beta1", N_ ("Beta 1"), N_ ("Bound of the gate"), 1e-6, 1e6, \
             4), \
    LIG_FLOAT (LigGatedParams, beta2, "beta2", N_ ("Beta 2"), N_ ("Bound of the linear half"), \
               1e-6, 1e6, 25), \
    LIG_INTERLEAVE

/* The parameter that names the channel of the scales. */
#define LIG_SCALES_PARAM \
  { \
    LIG_PARAM_INPUT, "scales", N_ ("Scales"), \
      N_ ("Name of the branch with the number of each row; default: a tensor from the caller"), 0, \
      0, 0, 0, 0, NULL \
  }

/* Write the ONNX nodes of a gated unit: activation (a) b; that of clamped SwiGLU; that of SiTU-GLU.
 * They return the unit's value (onnx-parts.c). */
const char *lig_onnx_gated (LigOnnx *onnx, LigOnnxActivation *activation);
const char *lig_onnx_clamped_swiglu (LigOnnx *onnx);
const char *lig_onnx_situ_glu (LigOnnx *onnx);

/* Sets y to the value, each of whose rows is multiplied by its number in `scales`. */
void lig_onnx_set_scaled (LigOnnx *onnx, const char *value);
