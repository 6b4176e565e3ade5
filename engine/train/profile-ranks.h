/* SPDX-License-Identifier: MIT */
/* Profiles by several ranks: all of them measure, and compare how long each waited. */
#pragma once

#include "engine/program/results.h"
#include <ligature/profile.h>

G_BEGIN_DECLS

/* Rejects ranks that would measure different plans, or in another number. */
gboolean lig_profile_compare_ranks (
  LigSequence *sequence, LigDevice *device, guint count, guint rounds, GError **error);

/* Replaces `goes_on` by rank 0's. The ranks leave it at about the same time, so that none begins
 * with a wait for another; without ranks nothing happens. */
gboolean lig_profile_meet (LigDevice *device, gboolean *goes_on, GError **error);

/* Fills in `ranks` from the samples of this rank and the others: `rounds` rows of `width` columns,
 * of which those from `first_step` on are the times of the steps, and those behind are their waits.
 */
gboolean lig_profile_join_ranks (LigProfile *self,
                                 const double *samples,
                                 guint width,
                                 guint first_step,
                                 guint rounds,
                                 GError **error);

void lig_profile_ranks_free (LigProfileRanks *self);

G_END_DECLS
