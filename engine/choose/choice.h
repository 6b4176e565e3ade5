/* SPDX-License-Identifier: MIT */
/* The choice of groups: verdicts with their fixes, and intermediate results of fuse. */
#pragma once

#include "engine/graph/graph.h"

struct _LigChoice {
  GArray *verdicts;        /* of LigVerdict */
  GPtrArray *fixes;        /* of LigFix, by verdict; null if a verdict has none */
  GPtrArray *alternatives; /* of LigFix, by verdict: a second fix */
  GPtrArray *names;        /* arrays of names that verdicts refer to */
  GHashTable *accepted;    /* those that continue a pattern, by its next element */
  int *owners[2];          /* while fusing: candidate that covers each op, or -1 */
  GHashTable *prices;      /* measured times by key, or null; kept for the unfused plan */
};

LigChoice *lig_fuse_choice_new (void);
void lig_fuse_choice_free (LigChoice *self);
