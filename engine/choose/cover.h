/* SPDX-License-Identifier: MIT */
/* Chooses among legal candidates: each op is covered at most once in each pass. */
#pragma once

#include "engine/choose/match.h"
#include "engine/choose/price.h"

#include <string.h>

typedef struct {
  LigPlanGroup group;
  int verdict; /* index */
  gboolean legal, forced, taken;
  gboolean whole;               /* the whole pattern matches, legal or not */
  gboolean shorter;             /* measured: the same match without its last optional elements */
  gboolean loses;               /* measured: not fast enough to be worth fusing */
  double fused, unfused, noise; /* measured: seconds */
  gboolean measured;            /* not predicted */
} LigCandidate;

/* Returns whether the candidate covers ops in this pass; joint ones do in both. */
gboolean lig_covers_pass (const LigCandidate *candidate, LigPass pass);

/* Accepts the forced candidates; it is an error if two overlap. */
gboolean lig_cover_forced (LigGraph *graph, GArray *candidates, GError **error);

/* Accepts the groups that options.choices names; it is an error if one is not legal here. */
gboolean lig_cover_choices (LigGraph *graph, GArray *candidates, GError **error);

/* Accepts candidates in the order of the fusions, from left to right, if their ops are free. */
void lig_cover_in_order (LigGraph *graph, GArray *candidates);

/* Finds the cover with the least total time in each pass. */
gboolean lig_cover_measured (LigGraph *graph, GArray *candidates, GError **error);

/* Times the chosen cover against others as whole steps, if the device supports graphs, and adopts
 * the fastest. Changes nothing if there is not enough memory for this. `work` is its part of the
 * progress. */
gboolean lig_cover_whole (LigGraph *graph, GArray *candidates, double work, GError **error);

/* Returns the index of the whole step to keep: the fastest, or among equally fast ones the one that
 * reads and writes least. If `varied`, the first is a variation that was the fastest of many: it
 * must beat the fastest of the others by more than one percent and its noise. */
guint lig_cover_judge (const LigPrice *prices, const double *bytes, guint count, gboolean varied);

/* Accepts the candidate if its ops are free, else records the group that claimed them. */
gboolean lig_cover_claim (LigGraph *graph, GArray *candidates, LigCandidate *candidate);

/* Returns the candidate that covers one of the ops, in a pass of the candidate; null: they are
 * free. */
const LigCandidate *
lig_find_claimant (const LigGraph *graph, GArray *candidates, const LigCandidate *candidate);
