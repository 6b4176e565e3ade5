/* SPDX-License-Identifier: MIT */
/* The inside of a program: what a plan runs on. */
#pragma once

#include "engine/plan/feed.h"
#include "engine/plan/plan-private.h"
#include "engine/plan/results.h"
#include "engine/plan/state-private.h"
#include "engine/steps/steps.h"
#include <ligature/program.h>

/* A gradient that arrives from the caller. */
typedef struct {
  int value;
  gboolean fresh; /* set, and no backward pass has read it yet */
  gboolean stale; /* read by a backward pass: to be cleared before the next */
} LigGiven;

struct _LigProgram {
  int count; /* of references, atomic */
  LigPlan *plan;
  LigState *state;
  LigDevice *device; /* (unowned) the state's: the plan's may be another that was opened alike */

  char *arena;
  LigTick *tick;                   /* in device memory */
  LigTick told, now;               /* what is there, what should be */
  void *workspaces[2];             /* of the steps and of those that run beside */
  LigSteps *run;                   /* launches with their pointers */
  GHashTable *feeds;               /* value -> LigFeed */
  GArray *captures;                /* of ranges of steps and their graphs */
  LigProgramResult *results;       /* LIG_PROGRAM_LATE in host memory */
  void *arrived[LIG_PROGRAM_LATE]; /* events */

  GArray *givens;        /* of LigGiven */
  gboolean keeps_givens; /* they stay for all backward passes */
  GHashTable *awaited;   /* values of inputs that were not set yet */
  gboolean has_rate;
  unsigned done; /* passes whose results are there, as LigRunFlags */
};

/* Gives the program memory and pointers into the state; and takes all of it away. */
gboolean lig_program_bind (LigProgram *self, GError **error);
void lig_program_unbind (LigProgram *self);

/* Address of a value, null where it has no memory. */
void *lig_program_address (LigProgram *self, int value);

/* Makes a gradient none at all, or a loss's own 1. */
gboolean lig_program_preset_gradient (LigProgram *self, int value, GError **error);

/* Whether all inputs were set. */
gboolean lig_program_check_inputs (LigProgram *self, GError **error);

/* Frees what lig_program_run() captured. */
void lig_program_forget_captures (LigProgram *self);

/* Launches one step by itself. */
gboolean lig_program_run_step (LigProgram *self, int index, GError **error);
