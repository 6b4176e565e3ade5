/* SPDX-License-Identifier: MIT */
/* Parameters of kernels: plain structs of at most 64 bytes, copied into each step. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* layer_norm, rms_norm and their backward and fused forms; l2_normalization uses eps alone. */
typedef struct {
  float eps;          /* added to the variance (l2: to the sum of squares) before its root */
  bool zero_centered; /* the gain is 1 + weight */
} LigNormParams;

/* clamped_swiglu and its backward and fused forms. */
typedef struct {
  float limit;  /* the gate is cut above it, the linear half on both sides */
  float alpha;  /* slope inside the sigmoid */
  float offset; /* added to the clamped linear half */
} LigClampedParams;

/* scale: y = factor x. Matrix products: the product is multiplied by it (1 without params). */
typedef struct {
  float factor;
} LigScaleParams;

/* dropout: an element is kept where its Philox word is at least probability * 2^32. */
typedef struct {
  float probability;
  uint64_t path_hash; /* of the op's path: the upper half of the counter with the micro-step */
} LigDropoutParams;

typedef struct {
  int64_t ignored;       /* rows with this target count for nothing */
  float label_smoothing; /* mass spread evenly over all classes, in [0, 1) */
} LigCrossEntropyParams;

/* The state that updates keep from step to step: an fp32 operand of these fields, in the device's
 * memory. */
typedef struct {
  float scale;   /* the next backward pass multiplies the gradients that arrive by it */
  float carried; /* what the present gradients were multiplied by */
  float good;    /* updates since the scale changed */
  float row;     /* updates in a row, up to the last one, that wrote nothing */
  float skipped; /* updates that wrote nothing, in all */
  float norm;    /* of the last update's gradients, without what they carried */
} LigScaling;

#define LIG_SCALING_FIELDS ((int) (sizeof (LigScaling) / sizeof (float)))

/* A dynamic scale begins with the first number, doubles after so many updates without overflow,
 * and halves with each overflow, within these bounds. */
#define LIG_FIRST_SCALE 0x1p16f
#define LIG_LEAST_SCALE 0x1p-24f
#define LIG_MOST_SCALE 0x1p24f
#define LIG_SCALE_INTERVAL 2000

/* scale_gradient: the factor, or 0 for the dynamic scale. gradient_norm: 0 adapts that scale;
 * without params it stays. */
typedef struct {
  float fixed;
} LigScalingParams;

/* sgd: g += decay p; m = momentum m + g; p -= rate m. */
typedef struct {
  float momentum;
  float weight_decay;
} LigSgdParams;

/* adamw (Loshchilov and Hutter, 2019): decay is decoupled, moments are bias-corrected. */
typedef struct {
  float beta1, beta2, eps;
  float weight_decay;
} LigAdamwParams;
