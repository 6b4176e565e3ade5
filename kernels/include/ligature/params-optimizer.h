/* SPDX-License-Identifier: MIT */
/* Parameters of the optimizers and of loss scaling (<ligature/loss-scaling.h>). See
 * <ligature/params.h> for the rules of all parameters. */
#pragma once

/**
 * LigScalingParams:
 * @fixed: for scale_gradient the factor, or 0 for the dynamic scale; for gradient_norm 0 to adapt
 *   that scale, any other number to keep it
 *
 * Parameters of scale_gradient and gradient_norm. Without them scale_gradient uses the scale of its
 * operand, and gradient_norm does not change it.
 */
typedef struct {
  float fixed;
} LigScalingParams;

/**
 * LigSgdParams:
 * @momentum: the momentum coefficient; default 0
 * @weight_decay: the L2 weight decay, added to the gradient; default 0
 *
 * Parameters of sgd: g += weight_decay p; m = momentum m + g; p -= learning_rate m.
 */
typedef struct {
  float momentum;
  float weight_decay;
} LigSgdParams;

/**
 * LigAdamwParams:
 * @beta1: the decay rate of the first moment; default 0.9
 * @beta2: the decay rate of the second moment; default 0.999
 * @eps: the number added to the square root of the second moment; default 1e-8
 * @weight_decay: the decoupled weight decay, multiplied by the learning rate; default 0
 *
 * Parameters of adamw (Loshchilov and Hutter, 2019): weight decay is decoupled, both moments are
 * bias-corrected.
 */
typedef struct {
  float beta1, beta2, eps;
  float weight_decay;
} LigAdamwParams;
