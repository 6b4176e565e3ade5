/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels that normalize: rows, and the heads of queries and keys. See
 * <ligature/params.h> for the rules of all parameters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * LigNormParams:
 * @eps: the number added to the variance, for l2_normalization to the sum of squares, before its
 *   root; default 1e-5, for l2_normalization 1e-6
 * @zero_centered: whether the gain is 1 + weight instead of weight; default false
 *
 * Parameters of layer_norm, rms_norm, their backward and fused forms, and of l2_normalization,
 * which uses @eps alone.
 */
typedef struct {
  float eps;
  bool zero_centered;
} LigNormParams;

/**
 * LigQkNorm:
 * @LIG_QK_RMS: divided by the root of the mean square, times a gain
 * @LIG_QK_L2: divided by the root of the sum of squares
 * @LIG_QK_LAYER_NORM: mean 0 and variance 1, times a gain, plus a bias
 *
 * How qk_norm normalizes the features of a head.
 */
typedef enum { LIG_QK_RMS, LIG_QK_L2, LIG_QK_LAYER_NORM } LigQkNorm;

/**
 * LigQkNormParams:
 * @heads: the number of query heads H
 * @kv_heads: the number of key and value heads G; a row of x is [H + 2 G, D]
 * @features: the features D of a head
 * @kind: a #LigQkNorm
 * @eps: the number added before the root
 *
 * Parameters of qk_norm and qk_norm_backward, which normalize each query and key head of packed
 * rows (Dehghani and others, 2023) and leave the values.
 */
typedef struct {
  int32_t heads;
  int32_t kv_heads;
  int32_t features;
  int32_t kind;
  float eps;
} LigQkNormParams;
