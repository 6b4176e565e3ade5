/* SPDX-License-Identifier: MIT */
/* Runs steps: plain C, no GLib object, no allocation, no lock. A step is a function pointer with
 * its launch; a plan's steps lie in one array, their operands in another.
 *
 * A step may run beside those that follow it, in the branch: it begins when all before it have
 * ended, and has ended when a later step joins it, or the range ends. */
#pragma once

#include "kernels/backend.h"

#include <stddef.h>

typedef struct {
  LigKernelFunc function; /* null: an opaque op's callback has to be called here */
  LigLaunch launch;
  bool beside; /* runs in the branch; its launch has that stream and that workspace */
  bool joins;  /* begins when the branch has ended, too */
  /* An operand has no elements: instead of the function, the outputs in `zeroed`, by bit, are
   * filled with zeros, but those in `added` are left alone while gradients accumulate. */
  bool empty;
  unsigned zeroed, added;
  _Alignas(max_align_t) uint8_t params[64];
} LigStep;

typedef struct {
  int n_steps;
  LigStep *steps;
  LigOperand *operands;
  /* The backend where steps run beside others, are empty, or are to be waited for; else null. */
  const LigBackend *calls;
  LigBackendDevice *device;
  void *stream, *branch, *forked, *joined; /* two streams, two events */
  bool wait;                               /* for every step, so that a fault names its own */
} LigSteps;

/* How a range is run. */
typedef struct {
  bool accumulate;
  bool rehearse; /* kernels choose among algorithms now */
} LigStepsMode;

/* Room for that many steps and operands, zeroed; null without memory. */
LigSteps *lig_steps_new (int n_steps, int n_operands);
void lig_steps_free (LigSteps *self);

/* Runs the steps from `first` up to, not with, `end`, and stops early before an opaque one or after
 * one that failed. Returns where it stopped; `status` says why. */
int lig_steps_run (LigSteps *self, int first, int end, LigStepsMode mode, LigStatus *status);
