/* SPDX-License-Identifier: MIT */
/* The inside of a plan: the draft it came from and its public tables. Nothing of it changes once
 * lig_plan_compile() has returned. */
#pragma once

#include "engine/compile/draft.h"
#include <ligature/state.h>

struct _LigPlan {
  int count; /* of references, atomic */
  LigDraft *draft;
  guint64 version;                          /* of the sequence */
  GArray *ops, *groups[2], *steps, *values; /* the public tables */
  GStringChunk *strings;
  guint segments;
};
