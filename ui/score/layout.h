/* SPDX-License-Identifier: MIT */
/* Lays out a document as a map, and measures it without one. */
#pragma once

#include "ui/score/map.h"

G_BEGIN_DECLS

/* Lays out the document's plan. @places: (nullable) (element-type LigOp LigOpSpan): the rows' ops
 * in an older plan */
LigScoreMap *
lig_score_map_new (LigDocument *document, const LigScoreMetrics *metrics, GHashTable *places);

/* Returns the height that a sequence needs with all its blocks unfolded. */
int lig_score_map_measure_unfolded (LigSequence *sequence, const LigScoreMetrics *metrics);

/* Returns the height that the document's rows need. */
int lig_score_map_measure (LigDocument *document, const LigScoreMetrics *metrics);

G_END_DECLS
