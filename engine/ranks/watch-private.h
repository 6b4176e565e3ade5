/* SPDX-License-Identifier: MIT */
/* The watch, for its two files. */
#pragma once

#include "engine/ranks/link.h"

#include <poll.h>
#include <sys/types.h>

G_BEGIN_DECLS

struct LigRankWatch {
  LigRanks *ranks;
  GMutex lock; /* guards `end`, `data`, `own_failure`, and sending */
  LigRanksEnd end;
  gpointer data;
  GThread *thread;
  LigLink *links;
  int n_links;
  struct pollfd *polled;
  int wake;          /* written to when something below changes */
  int leaving, done; /* atomic: ends of others are normal; the thread has to end */
  char *own_failure; /* of rank 0 */
  pid_t parent;      /* the launcher */
  gint64 orphaned;   /* monotonic time when the launcher had ended, or 0 */
  gint64 silence;    /* in microseconds */

  /* The first failure of a rank, and when it is due to be reported. */
  char *failure;
  int failed;
  gint64 due;
  gboolean shared; /* rank 0 has the same */
};

typedef enum {
  LIG_RANK_ENDED,  /* a process has ended */
  LIG_RANK_FAILED, /* a process has said that it failed */
  LIG_RANK_SILENT, /* a process is stopped, or its machine is lost */
  LIG_RANK_SAID,   /* another rank has printed the sentence */
} LigRankReason;

/* Ends this process and, on rank 0, all others. Prints the sentence, if this is the rank that does.
 * Takes the sentence. */
void lig_rank_watch_stop (LigRankWatch *self, LigRankReason reason, char *sentence) G_GNUC_NORETURN;

/* Prints the sentence of a failure and ends this process, whose launcher ends the others. */
void lig_rank_end_unwatched (LigRanks *ranks, const char *message) G_GNUC_NORETURN;

/* Waits until the thread of the watch, or rank 0, ends this process. */
void lig_rank_wait_for_end (void) G_GNUC_NORETURN;

G_END_DECLS
