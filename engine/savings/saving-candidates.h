/* SPDX-License-Identifier: MIT */
/* Candidates of savings: changes that may save time or memory, before they are tried. */
#pragma once

#include <ligature/plan-options.h>
#include <ligature/savings.h>

/* A change of a plan; the strings and the sequence are valid during the visit. */
typedef struct {
  LigSavingKind kind;
  const char *title, *detail, *value; /* see LigSaving */
  LigSequence *sequence;
  LigPlanOptions options;
} LigSavingCandidate;

typedef void (*LigSavingVisit) (LigSavingCandidate *candidate, gpointer data);

/* Visits all candidates of a plan. */
void lig_saving_visit (LigPlan *plan, LigSavingVisit visit, gpointer data);
