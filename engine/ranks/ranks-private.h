/* SPDX-License-Identifier: MIT */
/* The insides of the ranks, for the files of this room. */
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

/* The processes of a group that this one belongs to, on a communicator of their own, so that each
 * group has its order of collectives. */
typedef struct {
  LigRanks *ranks;
  void *comm;
  LigPeers peers;
} LigRankPeers;

struct LigRanks {
  LigMpi *mpi;
  void *comm; /* of the functions of ranks.h, which one thread calls at a time */
  LigLayout layout;
  LigRankPeers groups[LIG_N_GROUPS];
  int rank, count, local_rank;
  LigRankPlace *places; /* one for each rank */
  LigRankWatch *watch;  /* null until the ranks are watched */
  guint work;           /* the number of the last work that began */
  int abandoned;        /* atomic: that of the last one that rank 0 abandoned */
};

/* The longest sleep of a rank that waits for others, in microseconds. Rank 0 may be paused for
 * hours before it broadcasts. */
enum { LIG_RANKS_NAP = 1000, LIG_RANKS_LONG_NAP = 10000 };

/* The bytes of one message at most, as MPI counts them by an int. */
#define LIG_RANKS_PIECE ((gsize) 1 << 30)

/* Copies the bytes of the rank `root` to all ranks. */
gboolean lig_ranks_spread (LigRanks *self, int root, gpointer data, gsize bytes, GError **error);

/* Collects `bytes` bytes of each rank, in the order of the ranks, on all ranks. */
gboolean
lig_ranks_collect (LigRanks *self, gconstpointer own, gsize bytes, gpointer all, GError **error);

/* Fills in the peers of a group, of which this process is `rank` of `count`. */
void lig_rank_peers_init (LigRankPeers *self, LigRanks *ranks, void *comm, int rank, int count);

/* Notes that rank 0 abandoned a work. Works are numbered alike on all ranks, so that a late word is
 * not about the next one. */
void lig_rank_note_abandoned (LigRanks *self, guint work);

/* Ends the part of this process in the watch: what happens to the other ranks from now on is none
 * of its business. */
void lig_rank_watch_leave (LigRankWatch *self);

/* Ends the thread of the watch, after which the process may end. */
void lig_rank_watch_end (LigRankWatch *self);

G_END_DECLS
