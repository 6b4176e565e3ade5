/* SPDX-License-Identifier: MIT */
/* The ranks that train together: what they must have in common, what they decide together, and how
 * long they wait for one another. */
#pragma once

#include "engine/train/control.h"
#include <ligature/ranks.h>

G_BEGIN_DECLS

/* Returns the ranks that train together, null if this process trains alone. */
LigRanks *lig_run_ranks (LigRun *self);

/* Returns (transfer full) the layout of the ranks, null if the run is of none. */
char *lig_run_describe_layout (LigRun *self);

/* Returns whether this rank writes the checkpoints and the store, and obeys requests. */
gboolean lig_run_writes (LigRun *self);

/* Gives each rank its part of a batch, which its plans have instead of that of the sequence;
 * rejects a batch that the ranks do not divide. */
gboolean lig_run_share_batch (LigRun *self, GError **error);

/* Rejects ranks that have prepared different trainings. */
gboolean lig_run_compare_ranks (LigRun *self, GError **error);

/* Lets all ranks fail if one does, lig_ranks_share_failure(). */
gboolean lig_run_share_failure (LigRun *self, gboolean fine, GError **error);

/* Replace a text, a request by rank 0's. */
gboolean lig_run_share_choices (LigRun *self, char **choices, GError **error);
gboolean lig_run_share_request (LigRun *self, LigRunRequest *request, GError **error);

/* Replaces a step's loss by its mean over the ranks, and notes how long each of them waited for the
 * others; `waiting`: how long this one has waited since its program was made. `abandoned`: whether
 * this rank has abandoned the step; then whether any has. */
gboolean
lig_run_join_step (LigRun *self, double *loss, double waiting, gboolean *abandoned, GError **error);

/* Notes the last step's waits as metrics and in the progress. */
void lig_run_note_waits (LigRun *self, gint64 step);

G_END_DECLS
