/* SPDX-License-Identifier: MIT */
/* The inside of a plan: the draft it came from, its public tables, and what it runs on. */
#pragma once

#include "engine/compile/draft.h"
#include "engine/private/feed.h"
#include "engine/state.h"
#include "engine/steps/steps.h"

/* Results that are on their way from the device, at most. */
#define LIG_PLAN_LATE 8

struct _LigPlan {
  gatomicrefcount count;
  LigDraft *draft;
  guint64 version;                          /* of the sequence */
  GArray *ops, *groups[2], *steps, *values; /* the public tables */
  GStringChunk *strings;
  guint segments;

  /* Set by binding. */
  LigState *state; /* unowned: the state owns its plans */
  char *arena;
  LigTick *tick;                /* in device memory */
  LigTick told, now;            /* what is there, what should be */
  void *workspaces[2];          /* of the steps and of those that run beside */
  LigSteps *run;                /* launches with their pointers */
  GHashTable *feeds;            /* value -> LigFeed */
  GArray *captures;             /* of ranges of steps and their graphs */
  float *results;               /* LIG_PLAN_LATE pairs in host memory: loss, gradient norm */
  void *arrived[LIG_PLAN_LATE]; /* events */
};

/* Gives the plan memory and pointers into the state; and takes all of it away. */
gboolean lig_plan_bind (LigPlan *self, LigState *state, GError **error);
void lig_plan_unbind (LigPlan *self);

/* Address of a value of a bound plan, null where it has no memory. */
void *lig_plan_address (LigPlan *self, int value);

/* Frees what lig_plan_run() captured. */
void lig_plan_forget_captures (LigPlan *self);

/**
 * lig_plan_send_results, lig_plan_take_results:
 * @slot: below %LIG_PLAN_LATE
 *
 * The loss and the gradient norm of the run just launched begin their way to the host; taking them
 * waits until they are there, and tells what went wrong on the device before.
 */
gboolean lig_plan_send_results (LigPlan *self, guint slot, GError **error);
gboolean
lig_plan_take_results (LigPlan *self, guint slot, double *loss, double *norm, GError **error);

/* Of the state: the address of an element of an array, allocated when first asked for. */
void *lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error);
