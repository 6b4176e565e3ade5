/* SPDX-License-Identifier: MIT */
/* Sums of gradients and conversions: found by the passes `differentiate` and
 * `represent`, scheduled later. */
#pragma once

#include "engine/graph/graph.h"

/* A gradient with more than one contribution, summed before its producer runs backward. */
typedef struct {
  int target;            /* value */
  int part;              /* producer */
  GArray *contributions; /* of int */
} LigSum;

/* A copy of a value in another type. */
typedef struct {
  int from, to;
  int part; /* the part before which it runs; -1: at the start; or one of the two constants below */
} LigConversion;

#define LIG_BEFORE_FORWARD (-2) /* only if the parameters have changed */
#define LIG_AFTER_BACKWARD G_MAXINT

struct _LigGradients {
  GArray *sums;        /* of LigSum */
  GArray *conversions; /* of LigConversion */
  GArray *scalings;    /* of LigConversion: incoming gradients times the loss scale */
};

LigGradients *lig_gradients_new (void);
void lig_gradients_free (LigGradients *self);
