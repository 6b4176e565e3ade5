/* SPDX-License-Identifier: MIT */
/* The inside of a plan: the draft it came from, its public tables, and what it runs on. */
#pragma once

#include "engine/compile/draft.h"
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
  LigTick *tick; /* in device memory */
  void *workspace;
  LigSteps *run; /* launches with their pointers */
};

/* Gives the plan memory and pointers into the state. */
gboolean lig_plan_bind (LigPlan *self, LigState *state, GError **error);

/* Address of a value of a bound plan, null where it has no memory. */
void *lig_plan_address (LigPlan *self, int value);

/* Of the state: the address of an element of an array, allocated when first asked for. */
void *lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error);
