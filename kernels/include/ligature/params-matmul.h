/* SPDX-License-Identifier: MIT */
/* Parameters of matmuls. See <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * LigScaleParams:
 * @factor: the factor; default 1
 *
 * Parameters of scale, y = factor x, and of the linear kernels, whose matmul is multiplied
 * by the factor before anything is added to it.
 */
typedef struct LigScaleParams {
  float factor;
} LigScaleParams;

/**
 * LigFp8Params:
 * @factor: the factor of the matmul, as in #LigScaleParams
 * @left: the #LigScales of the first operand
 * @right: those of the second
 * @fast: whether partial sums may be kept with fewer bits than fp32 has, where that is faster
 *
 * Parameters of linear_fp8.
 */
typedef struct LigFp8Params {
  float factor;
  int32_t left, right;
  bool fast;
} LigFp8Params;
