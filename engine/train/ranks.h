/* SPDX-License-Identifier: MIT */
/* The ranks of a run: compares their inputs, makes common decisions, and measures how long they
 * wait for each other. */
#pragma once

#include "engine/train/control.h"
#include <ligature/ranks.h>

G_BEGIN_DECLS

/* Returns the ranks that train together; null if there is only this process. */
LigRanks *lig_run_ranks (LigRun *self);

/* Returns (transfer full) the parallelism; null without ranks. */
char *lig_run_describe_layout (LigRun *self);

/* Returns whether this rank writes checkpoints and the store, and handles requests. */
gboolean lig_run_writes (LigRun *self);

/* Gives each rank its shard of a batch, for which its plans are compiled; rejects a batch that the
 * ranks do not divide evenly. */
gboolean lig_run_share_batch (LigRun *self, GError **error);

/* Rejects ranks that have prepared different runs. */
gboolean lig_run_compare_ranks (LigRun *self, GError **error);

/* Makes all ranks fail if one does, see lig_ranks_share_failure(). */
gboolean lig_run_share_failure (LigRun *self, gboolean fine, GError **error);

/* Replace a text or a request by rank 0's. */
gboolean lig_run_share_choices (LigRun *self, char **choices, GError **error);
gboolean lig_run_share_request (LigRun *self, LigRunRequest *request, GError **error);

/* Replaces a step's loss by its mean over the ranks, and notes how long each waited for the others.
 * `waiting`: the total wait of this rank's program. `abandoned`: in, whether this rank has
 * abandoned the step; out, whether any rank has. */
gboolean
lig_run_join_step (LigRun *self, double *loss, double waiting, gboolean *abandoned, GError **error);

/* Notes the last step's waits as metrics and in the progress. */
void lig_run_note_waits (LigRun *self, gint64 step);

G_END_DECLS
