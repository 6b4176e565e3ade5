/* SPDX-License-Identifier: MIT */
/* Choosing among legal candidates: ops are covered at most once in each pass. */
#pragma once

#include "engine/compile/match.h"
#include "engine/compile/price.h"

#include <string.h>

typedef struct {
  LigGroup group;
  int verdict; /* index */
  gboolean legal, forced, taken;
  gboolean whole;             /* the group has all its ops, legal or not */
  gboolean shorter;           /* measured: the same match without its last optional elements */
  gboolean loses;             /* measured: not fast enough to be worth fusing over its ops alone */
  double fused, apart, noise; /* measured: seconds */
  gboolean measured;          /* and not predicted */
} LigCandidate;

/* Whether the candidate covers ops in this pass: joint ones do in both. */
gboolean lig_covers_pass (const LigCandidate *candidate, LigPass pass);

/* Takes the forced candidates; two that overlap are an error. */
gboolean lig_cover_forced (LigDraft *draft, GArray *candidates, GError **error);

/* Takes the groups that options.choices names; one that is not legal here is an error. */
gboolean lig_cover_choices (LigDraft *draft, GArray *candidates, GError **error);

/* Each fusion in turn from left to right claims free ops. */
void lig_cover_in_order (LigDraft *draft, GArray *candidates);

/* The cover of least total time in each pass. */
gboolean lig_cover_measured (LigDraft *draft, GArray *candidates, GError **error);

/* Runs the cover that was just chosen against others as whole steps, where the device has graphs,
 * and makes the best the cover. Without memory for that, nothing changes. */
gboolean lig_cover_whole (LigDraft *draft, GArray *candidates, GError **error);

/* Which of `count` whole steps to keep: the fastest, or among those as good as it the one that
 * reads and writes the least. The first, where `varied`, is a variation that was found to be the
 * best of many: it has to beat the fastest of the others by more than one percent and its noise. */
guint lig_cover_judge (const LigPrice *prices, const double *bytes, guint count, gboolean varied);

/* A time in words, kept with the draft's strings: `12.3 us`, with `suffix`. */
const char *lig_format_price (LigDraft *draft, double seconds, const char *suffix);

/* Takes the candidate if its ops are free, else notes who claimed them. */
gboolean lig_cover_claim (LigDraft *draft, GArray *candidates, LigCandidate *candidate);
