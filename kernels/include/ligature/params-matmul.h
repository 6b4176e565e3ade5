/* SPDX-License-Identifier: MIT */
/* Parameters of matmuls. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * LigScaleParams:
 * @factor: the factor; default 1
 *
 * Parameters of scale, y = factor x, and of the linear kernels, which multiply the matmul by the
 * factor before they add anything.
 */
typedef struct LigScaleParams {
  float factor;
} LigScaleParams;

/**
 * LigFp8Params:
 * @factor: the factor of the matmul, as in #LigScaleParams
 * @left: the #LigScales of the first operand
 * @right: the #LigScales of the second operand
 * @fast: whether accumulation may have less precision than fp32 where that is faster
 *
 * Parameters of linear_fp8.
 */
typedef struct LigFp8Params {
  float factor;
  int32_t left, right;
  bool fast;
} LigFp8Params;

/**
 * LigGroupedFp8Params:
 * @rows: that of #LigGroupedParams, which has the same beginning
 * @fp8: the parameters of the matmul
 *
 * Parameters of grouped_fp8.
 */
typedef struct LigGroupedFp8Params {
  int64_t rows;
  LigFp8Params fp8;
} LigGroupedFp8Params;
