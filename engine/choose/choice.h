/* SPDX-License-Identifier: MIT */
/* The choice of groups: verdicts with their fixes, and what fuse keeps on its way to them. */
#pragma once

#include "engine/graph/graph.h"

struct _LigChoice {
  GArray *verdicts;        /* of LigVerdict */
  GPtrArray *fixes;        /* of LigFix, by verdict; null where a verdict has none */
  GPtrArray *alternatives; /* of LigFix, likewise: another fix */
  GPtrArray *names;        /* arrays of names that verdicts refer to */
  GHashTable *accepted;    /* those that continue a pattern, by its next element */
  int *owners[2];          /* while fusing: candidate that covers each op, or -1 */
  GHashTable *prices; /* measured prices by key, or null; kept for the plan of every op alone */
};

LigChoice *lig_fuse_choice_new (void);
void lig_fuse_choice_free (LigChoice *self);
