/* SPDX-License-Identifier: MIT */
/* The tuning table as the kernels of a backend see it, and what a plan's kernels took from it. */
#pragma once

#include "engine/plan.h"
#include "kernels/backend.h"

G_BEGIN_DECLS

/* Where the choices of kernels come from and go to while something is rehearsed. */
typedef struct {
  const LigTuning *tuning; /* (nullable): then they are kept for this process */
  GHashTable *used;        /* (nullable): key -> choice, of all that were asked for or made */
} LigRehearsal;

/* The choices point to the rehearsal. */
void lig_rehearsal_choices (LigRehearsal *self, LigChoices *choices);

/* Tells whoever watches what is measured next. */
void lig_tuning_tell (const char *what);

/* What the kernels of a bound plan chose, a line each: key, tabulator, choice; (transfer full). */
char *lig_plan_list_algorithms (LigPlan *self);

/* Makes this process choose as such a text says; what is no such line is left out. */
void lig_algorithms_preset (const char *text);

G_END_DECLS
