/* SPDX-License-Identifier: MIT */
/* The messages of ranks that work together, and the groups into which they are divided. Without
 * ranks, `self` is null and nothing happens unless a function says otherwise; errors are
 * LIG_ERROR_DEVICE. */
#pragma once

#include <ligature/ranks.h>

G_BEGIN_DECLS

/* Collects `count` numbers of each rank in `all`, those of each together. There must be ranks. */
gboolean
lig_ranks_gather (LigRanks *self, const double *values, guint count, double *all, GError **error);

/* Replaces numbers by their sums over the ranks. Adds in the order of the ranks, so that all of
 * them have the same bits. */
gboolean lig_ranks_sum (LigRanks *self, double *values, guint count, GError **error);

/* Lets the work of all ranks fail if that of one does, so that they can go on together: returns
 * whether all of them succeeded. A rank that has failed has its error set. If all of them failed
 * alike, each keeps its error. Otherwise all have the sentence of the first one that failed, with
 * its number and host: that rank with its own code, the others with LIG_ERROR_RANKS. */
gboolean lig_ranks_share_failure (LigRanks *self, gboolean fine, GError **error);

/* Begins work that rank 0 may abandon, such as a training. All ranks begin the same works in the
 * same order. Returns the number of the work, 0 without ranks. */
guint lig_ranks_begin_work (LigRanks *self);

/* Lets lig_ranks_has_abandoned() on rank 0 be TRUE on all ranks, after a moment, if they are
 * watched (lig_ranks_watch()), else on this one. Others decide nothing. May be called from any
 * thread. */
void lig_ranks_abandon (LigRanks *self, guint work);

/* Returns whether rank 0 has abandoned the work, so that its results are not needed. Ranks learn
 * that at different times: each continues to exchange what the others expect, until all have
 * compared what they know. May be called from any thread. */
gboolean lig_ranks_has_abandoned (LigRanks *self, guint work);

/* Returns the layout by which the ranks were divided last. */
const LigLayout *lig_ranks_get_layout (LigRanks *self);

/* Returns (nullable) the ranks of this rank's group as kernels of the CPU use them, on a connection
 * of their own, so that a thread may reduce gradients while others exchange in another group or
 * call the functions above; null if the rank is alone in its group. */
const LigPeers *lig_ranks_get_peers (LigRanks *self, LigRankGroup group);

G_END_DECLS
