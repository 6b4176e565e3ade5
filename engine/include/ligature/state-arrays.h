/* SPDX-License-Identifier: MIT */
/* The arrays of a state: values, gradients, and whatever optimizers keep for each parameter. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* The kinds of array that a state keeps for each parameter. */
typedef enum {
  LIG_STATE_PARAMETERS,
  LIG_STATE_GRADIENTS,
  LIG_STATE_MASTER,   /* fp32 weights behind 16-bit parameters */
  LIG_STATE_MOMENT,   /* momentum, or Adam's mean */
  LIG_STATE_VARIANCE, /* Adam's */
  LIG_N_STATE_ARRAYS
} LigStateArray;

G_END_DECLS
