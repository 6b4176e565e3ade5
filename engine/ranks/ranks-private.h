/* SPDX-License-Identifier: MIT */
/* The internals of ranks, for the files of this folder. */
#pragma once

#include "engine/ranks/mpi.h"
#include <ligature/launch.h>
#include <ligature/ranks.h>

G_BEGIN_DECLS

/* The process of a rank. */
typedef struct {
  char host[256];
  gint64 pid;
} LigRankPlace;

typedef struct LigRankWatch LigRankWatch;

/* The processes of a group to which this one belongs, with a separate communicator, so that each
 * group orders its collectives independently. */
typedef struct {
  LigRanks *ranks;
  void *comm;
  LigPeers peers;
} LigRankPeers;

struct LigRanks {
  LigMpi *mpi;
  void *comm; /* for the functions of ranks.h, which one thread calls at a time */
  LigLayout layout;
  LigRankPeers groups[LIG_N_GROUPS];
  int rank, count, local_rank;
  LigRankPlace *places; /* one for each rank */
  LigRankWatch *watch;  /* null until the ranks are watched */
  guint work;           /* the number of the last work item that began */
  int abandoned;        /* atomic: the number of the last one that rank 0 abandoned */
};

/* The longest sleep while waiting for other ranks, in microseconds. Rank 0 may be paused for hours
 * before it broadcasts. */
enum { LIG_RANKS_NAP = 1000, LIG_RANKS_LONG_NAP = 10000 };

/* The maximum number of bytes per message, because MPI counts by an int. */
#define LIG_RANKS_PIECE ((gsize) 1 << 30)

/* Copies the bytes of the rank `root` to all ranks. */
gboolean lig_ranks_spread (LigRanks *self, int root, gpointer data, gsize bytes, GError **error);

/* Gathers `bytes` bytes of each rank, in the order of the ranks, on all ranks. */
gboolean
lig_ranks_collect (LigRanks *self, gconstpointer own, gsize bytes, gpointer all, GError **error);

/* Fills in the peers of a group, of which this process is `rank` of `count`. */
void lig_rank_peers_init (LigRankPeers *self, LigRanks *ranks, void *comm, int rank, int count);

/* Notes that rank 0 abandoned a work item. All ranks number the items alike, so that a late message
 * does not affect the next one. */
void lig_rank_note_abandoned (LigRanks *self, guint work);

/* Ends this process's part in the watch: it ignores the fate of the other ranks from now on. */
void lig_rank_watch_leave (LigRankWatch *self);

/* Ends the thread of the watch, after which the process may end. */
void lig_rank_watch_end (LigRankWatch *self);

G_END_DECLS
