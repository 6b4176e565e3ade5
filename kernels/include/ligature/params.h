/* SPDX-License-Identifier: MIT */
/* Parameters of the built-in kernels: plain structs of at most 64 bytes that the plan copies into
 * each step and hands to the kernel as LigLaunch.params. A kernel that is launched without them
 * uses the defaults named here. The struct of a kernel of one's own is any other such struct. */
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
 * LigClampedParams:
 * @limit: the largest gate, and the largest magnitude of the linear half; default 7
 * @alpha: the factor of the gate inside the sigmoid; default 1.702
 * @offset: the number added to the clamped linear half; default 1
 *
 * Parameters of clamped_swiglu and its backward and fused forms.
 */
typedef struct {
  float limit;
  float alpha;
  float offset;
} LigClampedParams;

/**
 * LigScaleParams:
 * @factor: the factor; default 1
 *
 * Parameters of scale, y = factor x, and of the linear kernels, whose matrix product is multiplied
 * by the factor before anything is added to it.
 */
typedef struct {
  float factor;
} LigScaleParams;

/**
 * LigDropoutParams:
 * @probability: the probability that an element becomes 0, from 0 to 1; the others are multiplied
 *   by 1 / (1 - probability); default 0.1
 * @path_hash: the hash of the op's path, of which the lower 32 bits are part of the Philox counter;
 *   default 0
 *
 * Parameters of dropout. An element is kept if its 32-bit Philox word is at least
 * probability * 2^32. The backward pass runs the same kernel and so draws the same words.
 */
typedef struct {
  float probability;
  uint64_t path_hash;
} LigDropoutParams;

/**
 * LigCrossEntropyParams:
 * @ignored: the target of rows that are not counted; default -100
 * @label_smoothing: the probability that is spread evenly over all classes, in [0, 1); default 0
 *
 * Parameters of cross_entropy, cross_entropy_backward and accuracy, which uses @ignored alone.
 */
typedef struct {
  int64_t ignored;
  float label_smoothing;
} LigCrossEntropyParams;

/**
 * LigScaling:
 * @scale: the factor by which the next backward pass multiplies the gradients that enter it
 * @carried: the factor by which the present gradients were multiplied
 * @good: the number of updates since the scale changed
 * @row: the number of latest updates in succession that wrote nothing
 * @skipped: the number of all updates that wrote nothing
 * @norm: the norm of the last update's gradients, divided by the factor that they carried
 *
 * The state of loss scaling, kept from update to update: an fp32 operand of these fields, in the
 * device's memory. scale_gradient sets @carried, gradient_norm the other fields; sgd and adamw read
 * them.
 */
typedef struct {
  float scale;
  float carried;
  float good;
  float row;
  float skipped;
  float norm;
} LigScaling;

/**
 * LIG_SCALING_FIELDS:
 *
 * The number of elements of the operand that holds a #LigScaling.
 */
#define LIG_SCALING_FIELDS ((int) (sizeof (LigScaling) / sizeof (float)))

/**
 * LIG_FIRST_SCALE:
 *
 * The initial value of a dynamic scale (Micikevicius et al., 2018). It doubles after
 * %LIG_SCALE_INTERVAL updates without overflow and halves after each overflow, and stays between
 * %LIG_LEAST_SCALE and %LIG_MOST_SCALE.
 */
#define LIG_FIRST_SCALE 0x1p16f
/**
 * LIG_LEAST_SCALE:
 *
 * The smallest dynamic scale.
 */
#define LIG_LEAST_SCALE 0x1p-24f
/**
 * LIG_MOST_SCALE:
 *
 * The largest dynamic scale.
 */
#define LIG_MOST_SCALE 0x1p24f
/**
 * LIG_SCALE_INTERVAL:
 *
 * The number of updates without overflow after which a dynamic scale doubles.
 */
#define LIG_SCALE_INTERVAL 2000

/**
 * LigScalingParams:
 * @fixed: for scale_gradient the factor, or 0 for the dynamic scale; for gradient_norm 0 to adapt
 *   that scale, any other number to leave it
 *
 * Parameters of scale_gradient and gradient_norm. Without them scale_gradient uses the scale of its
 * operand, and gradient_norm leaves it.
 */
typedef struct {
  float fixed;
} LigScalingParams;

/**
 * LigSgdParams:
 * @momentum: the part of m that is kept; default 0
 * @weight_decay: the part of the weight that is added to its gradient; default 0
 *
 * Parameters of sgd: g += weight_decay p; m = momentum m + g; p -= learning_rate m.
 */
typedef struct {
  float momentum;
  float weight_decay;
} LigSgdParams;

/**
 * LigAdamwParams:
 * @beta1: the part of the mean of gradients that is kept; default 0.9
 * @beta2: the part of the mean of squared gradients that is kept; default 0.999
 * @eps: the number added to the root of the second mean; default 1e-8
 * @weight_decay: the part of the weight, times the learning rate, that is taken off; default 0
 *
 * Parameters of adamw (Loshchilov and Hutter, 2019): weight decay is decoupled, both means are
 * corrected for their bias towards 0.
 */
typedef struct {
  float beta1, beta2, eps;
  float weight_decay;
} LigAdamwParams;
