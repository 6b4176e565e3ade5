/* SPDX-License-Identifier: MIT */
/* Messages between ranks, and their process groups. Without ranks, `self` is null and the functions
 * do nothing unless documented otherwise; errors are LIG_ERROR_DEVICE. */
#pragma once

#include <ligature/ranks.h>

G_BEGIN_DECLS

/* Gathers `count` numbers of each rank in `all`, rank by rank. There must be ranks. */
gboolean
lig_ranks_gather (LigRanks *self, const double *values, guint count, double *all, GError **error);

/* Replaces numbers by their sums over the ranks. Adds in the order of the ranks, so that all ranks
 * get the same bits. */
gboolean lig_ranks_sum (LigRanks *self, double *values, guint count, GError **error);

/* Makes all ranks fail if one of them does, so that they stay in step: returns whether all
 * succeeded. A rank that has failed has its error set. If all failed with the same error, each
 * keeps it. Otherwise all get the message of the first one that failed, with its number and host:
 * that rank with its own code, the others with LIG_ERROR_RANKS. */
gboolean lig_ranks_share_failure (LigRanks *self, gboolean fine, GError **error);

/* Begins work that rank 0 may abandon, such as a training run. All ranks begin the same work items
 * in the same order. Returns the number of the work item, 0 without ranks. */
guint lig_ranks_begin_work (LigRanks *self);

/* On rank 0, makes lig_ranks_has_abandoned() TRUE, after a moment on all ranks if they are watched
 * (lig_ranks_watch()), else only on this one. Has no effect on other ranks. May be called from any
 * thread. */
void lig_ranks_abandon (LigRanks *self, guint work);

/* Returns whether rank 0 has abandoned the work, so that its results are not needed. Ranks learn
 * that at different times: each continues to take part in the collectives until all ranks have
 * agreed. May be called from any thread. */
gboolean lig_ranks_has_abandoned (LigRanks *self, guint work);

/* Returns the parallelism by which the ranks were last divided into groups. */
const LigLayout *lig_ranks_get_layout (LigRanks *self);

/* Returns (nullable) the ranks of this rank's group for CPU kernels, on a separate communicator, so
 * that a thread may reduce gradients while others communicate in another group or call the
 * functions above; null if the group has only this rank. */
const LigPeers *lig_ranks_get_peers (LigRanks *self, LigRankGroup group);

G_END_DECLS
