/* SPDX-License-Identifier: MIT */
/* Runs steps: plain C, no GLib object, no allocation, no lock. A step is a function pointer with
 * its launch; a plan's steps lie in one array, their operands in another. */
#pragma once

#include "kernels/kernels.h"

typedef struct {
  LigKernelFunc function; /* null: an opaque op's callback has to be called here */
  LigLaunch launch;
  uint8_t params[64];
} LigStep;

typedef struct {
  int n_steps;
  LigStep *steps;
  LigOperand *operands;
} LigSteps;

/* Room for that many steps and operands, zeroed; null without memory. */
LigSteps *lig_steps_new (int n_steps, int n_operands);
void lig_steps_free (LigSteps *self);

/* Runs the steps from `first` up to, not with, `end`, and stops early before an opaque one or after
 * one that failed. Returns where it stopped; `status` says why. */
int lig_steps_run (LigSteps *self, int first, int end, bool accumulate, LigStatus *status);
