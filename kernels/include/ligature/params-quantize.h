/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that quantize, and of those that compute values and quantize them. See
 * <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <ligature/params-gated.h>
#include <ligature/params-norm.h>

/**
 * LigQuantizeParams:
 * @format: the #LigDtype of the quantized elements
 * @row: the #LigScales of the matrix as it is
 * @transposed: those of its transpose
 * @powers: whether scales are rounded down to powers of two; default false
 *
 * Parameters of quantize. Values beyond the largest of the format are saturated, as
 * TransformerEngine saturates them, but for infinity in fp16: it becomes NaN, so that the loss
 * scale of a training notices a gradient that overflowed.
 */
typedef struct LigQuantizeParams {
  int32_t format;
  int32_t row, transposed;
  bool powers;
} LigQuantizeParams;

/**
 * LigProducerParams:
 * @quantize: those of quantize
 * @function: the number of the activation, or of the gated unit, in the order of the lists of
 *   kernels
 * @clamped: the parameters of clamped_swiglu; others ignore them
 * @norm: the parameters of norm_quantize; others ignore them
 *
 * Parameters of the kernels that compute values and write their quantized copies.
 */
typedef struct {
  LigQuantizeParams quantize;
  int32_t function;
  LigClampedParams clamped;
  LigNormParams norm;
} LigProducerParams;

/**
 * LigHistoryParams:
 * @margin: the power of two by which scales stay below the largest possible ones
 * @most_recent: whether a scale follows from the last amax alone, not from the greatest of the
 *   history
 * @formats: the #LigDtype of the quantizers in turn: of an input, of a weight, of a gradient
 *
 * Parameters of update_scales.
 */
typedef struct {
  int32_t margin;
  bool most_recent;
  int32_t formats[3];
} LigHistoryParams;
