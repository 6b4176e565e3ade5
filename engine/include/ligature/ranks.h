/* SPDX-License-Identifier: MIT */
/* Ranks: the processes that train one sequence together. An MPI launcher starts them, on one
 * machine or on many; MPI carries their small messages and, on CPUs, the gradients. The MPI library
 * is loaded at run time: without it, or without a launcher, a process trains by itself.
 *
 * All ranks call the same collective functions in the same order. Between two calls a rank may
 * compute for as long as it needs: the others are ended only if a rank's process or machine is lost
 * or stopped, see lig_ranks_watch(). */
#pragma once

#include <ligature/layout.h>

G_BEGIN_DECLS

/**
 * LigRanks:
 *
 * The ranks that this process belongs to, from joining until the process ends.
 */
typedef struct LigRanks LigRanks;
typedef struct LigPeers LigPeers;

/**
 * LigRanksEnd: (skip)
 * @message: one sentence that names the rank and its host
 * @failed: whether a rank reported a failure, see lig_ranks_fail(); otherwise one was lost
 * @data: the pointer given to lig_ranks_watch()
 *
 * Called on rank 0, in a separate thread, when the ranks have to end because one of them failed,
 * ended or no longer responds: the last chance to record that. The process ends when it returns.
 */
typedef void (*LigRanksEnd) (const char *message, gboolean failed, gpointer data);

/**
 * lig_ranks_launched:
 *
 * Returns: the number of ranks that an MPI launcher started, including this process; 0 if it was
 *   not started by one
 */
LIG_API int lig_ranks_launched (void);

/**
 * lig_ranks_join:
 *
 * Loads the MPI library and joins the ranks that the launcher started. Further calls return the
 * same object.
 *
 * Returns: (transfer none) (nullable): the ranks; %NULL with %LIG_ERROR_DEVICE set if the library
 *   is missing or fails
 */
LIG_API LigRanks *lig_ranks_join (GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_ranks_leave:
 *
 * Leaves the ranks, if this process joined them, and waits until all ranks leave. A process must
 * call it before it ends normally; otherwise the other ranks end, too.
 */
LIG_API void lig_ranks_leave (void);

/**
 * lig_ranks_get_rank:
 * @self: (nullable): ranks
 *
 * Returns: the rank of this process, from 0; 0 without ranks
 */
LIG_API int lig_ranks_get_rank (LigRanks *self);

/**
 * lig_ranks_get_count:
 * @self: (nullable): ranks
 *
 * Returns: the number of ranks; 1 without ranks
 */
LIG_API int lig_ranks_get_count (LigRanks *self);

/**
 * lig_ranks_get_local_rank:
 * @self: (nullable): ranks
 *
 * Returns: the index of this process among those on its machine, from 0, which is the index of its
 * GPU
 */
LIG_API int lig_ranks_get_local_rank (LigRanks *self);

/**
 * lig_ranks_get_host:
 * @self: ranks
 * @rank: a rank
 *
 * Returns: (transfer none): the name of the rank's machine
 */
LIG_API const char *lig_ranks_get_host (LigRanks *self, int rank);

/**
 * lig_ranks_broadcast:
 * @self: (nullable): ranks; without them nothing happens
 * @data: (inout): @bytes bytes
 * @bytes: the number of bytes, the same on all ranks
 *
 * Copies rank 0's bytes to all ranks. The other ranks wait without using CPU time.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_ranks_broadcast (LigRanks *self, gpointer data, gsize bytes, GError **error);

/**
 * lig_ranks_broadcast_text:
 * @self: (nullable): ranks; without them nothing happens
 * @text: (inout) (nullable) (transfer full): rank 0's text; on the other ranks it is replaced
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_ranks_broadcast_text (LigRanks *self, char **text, GError **error);

/**
 * lig_ranks_agree:
 * @self: (nullable): ranks; without them nothing happens
 * @subject: the subject of the comparison, such as `the data`; translatable
 * @text: a text that must be the same on all ranks, such as a hash
 *
 * Compares a text on all ranks.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set on all ranks, if they differ: the sentence names the
 *   first rank that differs from rank 0, its host, and both texts; or %LIG_ERROR_DEVICE
 */
LIG_API gboolean lig_ranks_agree (LigRanks *self,
                                  const char *subject,
                                  const char *text,
                                  GError **error);

/**
 * lig_ranks_watch: (skip)
 * @self: (nullable): ranks; without them nothing happens
 * @end: (nullable): called on rank 0 before it ends because of another rank
 * @data: for @end
 *
 * Begins to watch the other ranks, or continues with another @end. Every rank sends rank 0 a
 * heartbeat each second over a separate connection. If a rank ends without leaving, or sends none
 * for 15 seconds, all ranks end within 30 seconds, and rank 0 prints a sentence with the rank and
 * its host.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set if the connections cannot be made
 */
LIG_API gboolean lig_ranks_watch (LigRanks *self, LigRanksEnd end, gpointer data, GError **error);

/**
 * lig_ranks_fail:
 * @self: (nullable): ranks; without them nothing happens
 * @message: the reason, one sentence
 *
 * Ends all ranks because this one failed; rank 0 prints the sentence with this rank and its host.
 * Returns only if there are no ranks.
 */
LIG_API void lig_ranks_fail (LigRanks *self, const char *message);

/**
 * lig_ranks_shard:
 * @self: ranks
 * @layout: a parallelism of that many ranks, the same on all ranks
 *
 * Divides the ranks into groups; initially all of them are one data group. All ranks call it.
 *
 * Returns: %FALSE with %LIG_ERROR_DEVICE set
 */
LIG_API gboolean lig_ranks_shard (LigRanks *self, const LigLayout *layout, GError **error);

G_END_DECLS
