/* SPDX-License-Identifier: MIT */
/* Loss scaling: the factor that keeps the gradients of narrow types from becoming zero, and what is
 * known of its updates. */
#pragma once

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
typedef struct LigScaling {
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
#define LIG_MIN_SCALE 0x1p-24f

/**
 * LIG_MOST_SCALE:
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
