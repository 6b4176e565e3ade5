/* SPDX-License-Identifier: MIT */
/* Profiles on several ranks: all of them measure, and compare their waits. */
#pragma once

#include "engine/program/results.h"
#include <ligature/profile.h>

G_BEGIN_DECLS

/* Rejects ranks that would measure different plans or numbers of rounds. */
gboolean lig_profile_compare_ranks (
  LigSequence *sequence, LigDevice *device, guint count, guint rounds, GError **error);

/* Replaces `goes_on` by rank 0's. The ranks return at about the same time, so that none starts with
 * a wait for another. Does nothing without ranks. */
gboolean lig_profile_meet (LigDevice *device, gboolean *goes_on, GError **error);

/* Fills in `ranks` from the samples of this rank and the others: `rounds` rows of `width` columns,
 * of which those from `first_step` on are the times of the steps, followed by their waits. */
gboolean lig_profile_join_ranks (LigProfile *self,
                                 const double *samples,
                                 guint width,
                                 guint first_step,
                                 guint rounds,
                                 GError **error);

void lig_profile_ranks_free (LigProfileRanks *self);

G_END_DECLS
