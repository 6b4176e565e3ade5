/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that quantize, standalone or fused. See <ligature/params.h> for the
 * rules of all parameters. */
#pragma once

#include <ligature/params-gated.h>
#include <ligature/params-norm.h>

/**
 * LigQuantizeParams:
 * @format: the #LigDtype of the quantized elements
 * @row: the #LigScales of the untransposed copy
 * @transposed: the #LigScales of the transposed copy
 * @powers: whether scales are rounded down to powers of two; default false
 * @groups: the number of matrices of equal size in x, one below the other, each of which has its
 *   own transposed copy and its own scales; default 0, which is one matrix
 *
 * Parameters of quantize. Values beyond the largest of the format are saturated, as in
 * TransformerEngine, except for fp16 infinity: it becomes NaN, so that loss scaling detects a
 * gradient that overflowed.
 */
typedef struct LigQuantizeParams {
  int32_t format;
  int32_t row, transposed;
  bool powers;
  int32_t groups;
} LigQuantizeParams;

/**
 * LigProducerParams:
 * @quantize: the parameters of quantize
 * @function: the number of the activation or gated unit, in the order of the list of kernels
 * @gated: the parameters of gated units; others ignore them
 * @norm: the parameters of norm_quantize; others ignore them
 *
 * Parameters of the fused kernels that compute values and write quantized copies of them.
 */
typedef struct {
  LigQuantizeParams quantize;
  int32_t function;
  LigGatedParams gated;
  LigNormParams norm;
} LigProducerParams;

/**
 * LigHistoryParams:
 * @margin: the binary exponent by which scales stay below the largest possible ones
 * @newest_only: whether a scale follows from the most recent amax instead of the maximum of the
 *   history
 * @formats: the #LigDtype of the quantizers, in this order: input, weight, gradient
 *
 * Parameters of update_scales.
 */
typedef struct {
  int32_t margin;
  bool newest_only;
  int32_t formats[3];
} LigHistoryParams;
