/* SPDX-License-Identifier: MIT */
/* The private parts of a plan: its draft and its public tables, which do not change after
 * lig_plan_compile() returns. */
#pragma once

#include "engine/compile/draft.h"
#include <ligature/state.h>

struct _LigPlan {
  int count;   /* of references, atomic */
  LigPlan *of; /* the plan whose draft and tables it shares, but for its groups; or null */
  LigDraft *draft;
  guint64 version;                          /* of the sequence */
  GArray *ops, *groups[2], *steps, *values; /* the public tables */
  GStringChunk *strings;
  guint segments;
};

/* Compiles a new draft, which it takes, into a plan. */
LigPlan *lig_plan_finish (LigDraft *started, GError **error);
