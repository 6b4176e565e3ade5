/* SPDX-License-Identifier: MIT */
/* All activations and gated units, one per line, with the names of their kernels. The kernels of
 * both backends, kernel-list.h and the tests are generated from these lists; the formulas of an
 * activation, lig_NAME and lig_NAME_backward, are in formulas.h. */
#pragma once

/* The names of an activation's kernels: plain, backward, with a fused bias, and backward with a
 * fused bias; the work per element forward and backward; the value that the backward pass reads: x,
 * or the output y. */
#define LIG_EACH_ACTIVATION(EACH) \
  EACH (gelu, gelu_backward, bias_gelu, bias_gelu_backward, 10, 14, x) \
  EACH (gelu_erf, gelu_erf_backward, bias_gelu_erf, bias_gelu_erf_backward, 24, 32, x) \
  EACH (qgelu, qgelu_backward, bias_qgelu, bias_qgelu_backward, 6, 10, x) \
  EACH (srelu, srelu_backward, bias_srelu, bias_srelu_backward, 2, 6, x) \
  EACH (silu, silu_backward, bias_silu, bias_silu_backward, 6, 10, x) \
  EACH (relu, relu_backward, bias_relu, bias_relu_backward, 1, 1, y)

/* The same four kernels; the work forward and backward; the activation applied to the gate. */
#define LIG_EACH_GATED(EACH) \
  EACH (glu, glu_backward, bias_glu, bias_glu_backward, 6, 10, sigmoid) \
  EACH (geglu, geglu_backward, bias_geglu, bias_geglu_backward, 6, 10, gelu) \
  EACH (qgeglu, qgeglu_backward, bias_qgeglu, bias_qgeglu_backward, 4, 8, qgelu) \
  EACH (reglu, reglu_backward, bias_reglu, bias_reglu_backward, 1, 5, relu) \
  EACH (sreglu, sreglu_backward, bias_sreglu, bias_sreglu_backward, 2, 6, srelu) \
  EACH (swiglu, swiglu_backward, bias_swiglu, bias_swiglu_backward, 4, 8, silu)

/* Gated units that have their own formula, which reads params. */
#define LIG_EACH_GATED_WITH_PARAMS(EACH) \
  EACH (clamped_swiglu, clamped_swiglu_backward, bias_clamped_swiglu, \
        bias_clamped_swiglu_backward, 6, 10, silu) \
  EACH (situ_glu, situ_glu_backward, bias_situ_glu, bias_situ_glu_backward, 12, 20, tanh)

/* Units whose output is multiplied by a number per row, the weight of an expert or a gate: the
 * names of the kernels, the unit, which for rows themselves is the identity, the parts of a row of
 * x, and the work per element forward and backward. */
#define LIG_EACH_SCALED(EACH) \
  EACH (scaled_swiglu, scaled_swiglu_backward, swiglu, 2, 5, 11) \
  EACH (scaled_srelu, scaled_srelu_backward, srelu, 1, 3, 9) \
  EACH (scaled_clamped_swiglu, scaled_clamped_swiglu_backward, clamped_swiglu, 2, 7, 13) \
  EACH (scaled_situ_glu, scaled_situ_glu_backward, situ_glu, 2, 13, 23) \
  EACH (scaled_rows, scaled_rows_backward, identity, 1, 1, 3)
