/* SPDX-License-Identifier: MIT */
/* How long ranks waited for one another in the newest training of a document's sequence by several
 * ranks, from the metrics in the store, and how long they were predicted to wait for collectives.
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
 * @parallel: how they divided the work
 * @slowest: the rank that waits least
 * @steps: the number of steps
 * @exposed: for how much of a step other work waits for collectives
 * @imbalance: how much longer that of another rank waits: for the slowest one
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

/* Looks for the training on a thread. */
void lig_rank_waits_find (LigDocument *document,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer data);

/* Returns (transfer full) (nullable): null without such a training. */
LigRankWaits *lig_rank_waits_finish (GAsyncResult *result);

G_END_DECLS
