/* SPDX-License-Identifier: MIT */
/* Runs steps in plain C, without GLib objects, allocations or locks. A step is a function pointer
 * with its launch; a plan's steps are in one array, their operands in another.
 *
 * A step of a lane other than the main one runs in parallel with those that follow it: it begins
 * when all steps before it have ended, and has ended when a later step awaits it or joins its lane,
 * or the range ends. */
#pragma once

#include "kernels/backend.h"

#include <stddef.h>

typedef struct LigStep {
  LigKernelFunc function; /* null if an opaque op's callback must be called here */
  LigLaunch launch;
  LigLane lane;                 /* its launch has the lane's stream and workspace */
  unsigned joins;               /* bit mask of the lanes that it waits for, too */
  const struct LigStep *awaits; /* a step of another lane that it waits for; or null */
  void *ended;                  /* the event that marks its end, if another step awaits it */
  bool reduces;   /* is omitted from runs after which more gradients are accumulated */
  bool adds;      /* always accumulates: earlier steps of the pass wrote the same gradients */
  unsigned added; /* the operands that are gradients of parameters, which accumulate, as bits */
  /* An operand has no elements. Instead of calling the function, the outputs whose bits are set in
   * `zeroed` are filled with zeros, except those in `added` while gradients accumulate. */
  bool empty;
  unsigned zeroed;
  _Alignas(max_align_t) uint8_t params[LIG_MAX_PARAMS];
} LigStep;

/* A lane: its stream, and the event that marks the end of what was launched in it. */
typedef struct {
  void *stream, *ended;
} LigStepsLane;

typedef struct {
  int n_steps;
  LigStep *steps;
  LigOperand *operands;
  /* The backend if steps use other lanes, are empty, or are waited for; else null. */
  const LigBackend *calls;
  LigBackendDevice *device;
  LigStepsLane lanes[LIG_N_LANES];
  LigTimer *waiting; /* in device memory: how long the main lane waits for other ranks; or null */
  LigTimer *waits;   /* or null: the same, separately for each step that is a collective */
  int awaited;       /* the step of the communication lane that was launched last */
  void *begun; /* an event: the place in the main lane after which a step of another lane begins */
  bool wait;   /* waits after every step, so that an error is attributed to it */
  /* Called before each step below `interruptible`, if not null. Returning true interrupts the
   * range: it ends there or, with `keeps_collectives`, runs only the collectives that remain before
   * `interruptible`, because other ranks, which are interrupted at other steps or not yet, wait for
   * them. */
  bool (*interrupt) (void *data);
  void *interrupt_data;
  int interruptible;
  bool keeps_collectives;
  bool interrupted; /* the last range was interrupted */
} LigSteps;

/* Settings of one run of a range. */
typedef struct {
  bool accumulate;
  bool autotune; /* kernels may choose among algorithms by measuring */
  bool partial;  /* more micro-batches of the update follow */
} LigStepsMode;

/* Allocates that many steps and operands, zeroed; returns null without memory. */
LigSteps *lig_steps_new (int n_steps, int n_operands);
void lig_steps_free (LigSteps *self);

/* Runs the steps from `first` up to but excluding `end`, and stops early before an opaque step or
 * at a step that failed. Returns the index at which it stopped; `status` is the status of the
 * failed step, else LIG_OK. */
int lig_steps_run (LigSteps *self, int first, int end, LigStepsMode mode, LigStatus *status);
