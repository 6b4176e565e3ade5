/* SPDX-License-Identifier: MIT */
/* Parameters of normalizations: of rows, and of query and key heads. See <ligature/params.h> for
 * the rules of all parameters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * LigNormParams:
 * @eps: the number added under the square root to the variance, for l2_normalization to the sum of
 *   squares; default 1e-5, for l2_normalization 1e-6
 * @zero_centered: whether rows are multiplied by 1 + weight instead of weight; default false
 *
 * Parameters of layer_norm, rms_norm, their backward and fused variants, and of l2_normalization,
 * which uses only @eps.
 */
typedef struct {
  float eps;
  bool zero_centered;
} LigNormParams;

/**
 * LigQkNorm:
 * @LIG_QK_RMS: divided by the root mean square, times a weight
 * @LIG_QK_L2: divided by the L2 norm
 * @LIG_QK_LAYER_NORM: mean 0 and variance 1, times a weight, plus a bias
 *
 * The normalization of qk_norm, over the head dim.
 */
typedef enum { LIG_QK_RMS, LIG_QK_L2, LIG_QK_LAYER_NORM } LigQkNorm;

/**
 * LigQkNormParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G; a row of x is [H + 2 G, D]
 * @features: the head dim D
 * @kind: a #LigQkNorm
 * @eps: the number added under the square root
 *
 * Parameters of qk_norm and qk_norm_backward, which normalize each query and key head of packed
 * rows (Dehghani and others, 2023) and copy the values.
 */
typedef struct {
  int32_t heads;
  int32_t kv_heads;
  int32_t features;
  int32_t kind;
  float eps;
} LigQkNormParams;
