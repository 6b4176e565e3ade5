/* SPDX-License-Identifier: MIT */
/* Every built-in kernel: LIG_EACH (name, signature, work), see kernels.h for the three fields. The
 * kernels that follow LIG_FAMILY (family) are defined in kernels/cpu/FAMILY.c and
 * kernels/cuda/FAMILY.cu, or in files whose names continue with a hyphen (norm-backward.c);
 * tests/lint/families.py checks it. Include this file with LIG_EACH defined; a backend that lacks a
 * function of the list fails to link. */
#ifndef LIG_FAMILY
#define LIG_FAMILY(name)
#endif
#include "kernels/activations.h"

LIG_FAMILY (pointwise)
/* pointwise: on elements, whatever the shape. dropout serves both passes. */
LIG_EACH (convert, "x -> y=x", 1)
LIG_EACH (add, "a b -> y=a|b", 1)
LIG_EACH (scale, "x -> y=x", 1)
LIG_EACH (dropout, "x -> y=x", 12)

LIG_FAMILY (bias)
/* bias: rows of x plus one vector; its gradient is the sum over rows. */
LIG_EACH (bias, "x bias -> y=x", 1)
LIG_EACH (bias_backward, "dy -> dbias", 1)

LIG_FAMILY (activation)
/* activation: `sum` is x + bias, what the backward pass reads. relu keeps y instead. */
#define LIG_ACTIVATION(alone, backward, biased, biased_backward, work, back, read) \
  LIG_EACH (alone, "x -> y=x", work) \
  LIG_EACH (backward, "dy " #read " -> dx=dy|" #read, back) \
  LIG_EACH (biased, "x bias -> sum=x y=x", work + 1) \
  LIG_EACH (biased_backward, "dy " #read " -> dx=dy|" #read " dbias", back + 1)
LIG_EACH_ACTIVATION (LIG_ACTIVATION)
#undef LIG_ACTIVATION

LIG_FAMILY (gated)
/* gated: x has twice the columns of y; the gate is its first half. */
#define LIG_GATED(alone, backward, biased, biased_backward, work, back, gate) \
  LIG_EACH (alone, "x -> y", work) \
  LIG_EACH (backward, "dy x -> dx=x", back) \
  LIG_EACH (biased, "x bias -> sum=x y", work + 1) \
  LIG_EACH (biased_backward, "dy x -> dx=x dbias", back + 1)
LIG_EACH_GATED (LIG_GATED)
LIG_EACH_GATED_WITH_PARAMS (LIG_GATED)
#undef LIG_GATED

LIG_FAMILY (norm)
/* norm: a row is as long as weight. mean and rstd are fp32, one a row. `sum` is x + extra
 * as rounded to its type; `branch` is added to the norm's input gradient. */
LIG_EACH (layer_norm, "x weight bias -> y=x mean rstd", 8)
LIG_EACH (layer_norm_backward, "dy x weight mean rstd -> dx=dy|x dweight dbias", 14)
LIG_EACH (layer_norm_backward_add,
          "dy branch x weight mean rstd -> dx=dy|branch|x dweight dbias",
          15)
LIG_EACH (add_layer_norm, "x extra weight bias -> sum=x|extra y=x|extra mean rstd", 9)
LIG_EACH (rms_norm, "x weight -> y=x rstd", 4)
LIG_EACH (rms_norm_backward, "dy x weight rstd -> dx=dy|x dweight", 10)
LIG_EACH (rms_norm_backward_add, "dy branch x weight rstd -> dx=dy|branch|x dweight", 11)
LIG_EACH (add_rms_norm, "x extra weight -> sum=x|extra y=x|extra rstd", 5)
LIG_EACH (l2_normalization, "x -> y=x rstd", 4)
LIG_EACH (l2_normalization_backward, "dy x rstd -> dx=dy|x", 8)

LIG_FAMILY (linear)
/* linear: matrix products, x[M,K] weight[N,K] y[M,N]; each times LigScaleParams.factor
 * (before bias, extra and branch are added). `sum` is what gelu is applied to. */
LIG_EACH (linear, "x weight -> y", LIG_PRODUCT_OVER_COLUMNS)
LIG_EACH (linear_bias, "x weight bias -> y", LIG_PRODUCT_OVER_COLUMNS)
LIG_EACH (linear_bias_gelu, "x weight bias? -> sum y", LIG_PRODUCT_OVER_COLUMNS)
LIG_EACH (linear_bias_relu, "x weight bias? -> y", LIG_PRODUCT_OVER_COLUMNS)
LIG_EACH (linear_bias_add, "x weight bias? extra -> y", LIG_PRODUCT_OVER_COLUMNS)
LIG_EACH (linear_backward_input, "dy weight -> dx", LIG_PRODUCT_COLUMNS_BY_ROWS)
LIG_EACH (linear_backward_input_add, "dy weight branch -> dx", LIG_PRODUCT_COLUMNS_BY_ROWS)
/* dx = gelu'(x) (dy weight), x the activation's input; dbias = the sum of dx over rows */
LIG_EACH (linear_backward_input_gelu, "dy weight x -> dx dbias", LIG_PRODUCT_COLUMNS_BY_ROWS)
LIG_EACH (linear_backward_weight, "dy x -> dweight", LIG_PRODUCT_OVER_ROWS)
LIG_EACH (linear_backward_weight_bias, "dy x -> dweight dbias", LIG_PRODUCT_OVER_ROWS)

LIG_FAMILY (embedding)
/* embedding: x holds int32 row numbers of weight. The gradient is a deterministic sum. */
LIG_EACH (embedding, "x weight -> y", 1)
LIG_EACH (embedding_backward, "dy x -> dweight", 1)

LIG_FAMILY (loss)
/* loss: y, dy and count are fp32 scalars, lse one fp32 a row; targets are int32 for
 * cross_entropy, like x for mean_squared_error. correct and count: rows whose largest logit is the
 * target, rows counted. */
LIG_EACH (cross_entropy, "x targets -> y lse count", 6)
LIG_EACH (cross_entropy_backward, "dy x targets lse count -> dx=x", 6)
LIG_EACH (accuracy, "x targets -> correct count", 1)
LIG_EACH (mean_squared_error, "x targets -> y", 3)
LIG_EACH (mean_squared_error_backward, "dy x targets -> dx=x|targets dtargets=x|targets", 3)

LIG_FAMILY (optimizer)
/* optimizer: over whole arenas. norm is the fp32 global norm of the gradients before
 * clipping, without what they carry; master the fp32 weights behind 16-bit parameters; scaling a
 * LigScaling. Outputs but y and norm are updated in place. With a norm that is not finite, sgd and
 * adamw write nothing. The types of gradients and parameters may differ. */
LIG_EACH (scale_gradient, "x -> y scaling", 1)
LIG_EACH (gradient_norm, "gradients -> norm scaling", 2)
LIG_EACH (sgd, "gradients norm? scaling? -> parameters momentum master", 4)
LIG_EACH (adamw, "gradients norm? scaling? -> parameters mean variance master", 12)

#undef LIG_FAMILY
