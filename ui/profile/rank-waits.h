/* SPDX-License-Identifier: MIT */
/* The waits of ranks for each other in the newest multi-rank run of a document's sequence, from the
 * metrics in the store, and their predicted waits for collectives.
 */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * LigRankWaits:
 *
 * Medians of the last steps, in seconds.
 *
 * @run: the uuid
 * @ranks: the number of ranks, at least two
 * @parallel: their parallelism
 * @slowest: the rank that waits least
 * @steps: the number of steps
 * @exposed: the time per step in which other work waits for collectives
 * @imbalance: the additional wait of the other ranks for the slowest one
 * @step: a step
 * @predicted: the prediction of @exposed, NaN if there is none
 */
typedef struct {
  char *run, *parallel;
  int ranks, slowest;
  guint steps;
  double exposed, imbalance, step, predicted;
} LigRankWaits;

void lig_rank_waits_free (LigRankWaits *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRankWaits, lig_rank_waits_free)

/* Looks for the run on a thread. */
void lig_rank_waits_find (LigDocument *document,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer data);

/* Returns (transfer full) (nullable): null without such a run. */
LigRankWaits *lig_rank_waits_finish (GAsyncResult *result);

G_END_DECLS
