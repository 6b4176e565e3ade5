/* SPDX-License-Identifier: MIT */
/* The inside of a plan: the draft it came from, its public tables, and what it runs on. */
#pragma once

#include "engine/compile/draft.h"
#include "engine/private/feed.h"
#include "engine/private/results.h"
#include "engine/state.h"
#include "engine/steps/steps.h"

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
  LigPlanResult *results;       /* LIG_PLAN_LATE in host memory */
  void *arrived[LIG_PLAN_LATE]; /* events */
};

/* Gives the plan memory and pointers into the state; and takes all of it away. */
gboolean lig_plan_bind (LigPlan *self, LigState *state, GError **error);
void lig_plan_unbind (LigPlan *self);

/* Address of a value of a bound plan, null where it has no memory. */
void *lig_plan_address (LigPlan *self, int value);

/* Frees what lig_plan_run() captured. */
void lig_plan_forget_captures (LigPlan *self);

/* Of the state: the address of an element of an array, allocated when first asked for; likewise of
 * its LigScaling. */
void *lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error);
void *lig_state_scaling (LigState *self, GError **error);

/* Before a backward pass: whether it scales the gradients that it leaves in the state. */
gboolean lig_state_begin_gradients (LigState *self, gboolean scaled, GError **error);

/* (transfer full): gradients of the last backward pass, divided by what they carry, in the type. */
LigTensor *lig_state_unscale (LigState *self, LigTensor *gradients, LigDtype dtype, GError **error);
