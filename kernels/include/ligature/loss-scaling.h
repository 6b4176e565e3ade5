/* SPDX-License-Identifier: MIT */
/* Loss scaling: the factor that keeps gradients in narrow types from underflowing, and its
 * state. */
#pragma once

/**
 * LigScaling:
 * @scale: the factor by which the next backward pass multiplies the loss gradient
 * @carried: the factor by which the current gradients were multiplied
 * @good: the number of updates since the scale changed
 * @consecutive_skipped: the number of consecutive skipped updates up to now
 * @skipped: the total number of skipped updates
 * @norm: the norm of the last update's gradients, without the factor
 *
 * The state of loss scaling, kept between updates: an fp32 operand with these fields, in device
 * memory. scale_gradient sets @carried, gradient_norm the other fields; sgd and adamw read them.
 */
typedef struct LigScaling {
  float scale;
  float carried;
  float good;
  float consecutive_skipped;
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
 * %LIG_MIN_SCALE and %LIG_MAX_SCALE.
 */
#define LIG_FIRST_SCALE 0x1p16f

/**
 * LIG_MIN_SCALE:
 *
 * The smallest dynamic scale.
 */
#define LIG_MIN_SCALE 0x1p-24f

/**
 * LIG_MAX_SCALE:
 *
 * The largest dynamic scale.
 */
#define LIG_MAX_SCALE 0x1p24f

/**
 * LIG_SCALE_INTERVAL:
 *
 * The number of updates without overflow after which a dynamic scale doubles.
 */
#define LIG_SCALE_INTERVAL 2000
