/* SPDX-License-Identifier: MIT */
/* The watch, shared by its two files. */
#pragma once

#include "engine/ranks/link.h"

#include <poll.h>
#include <sys/types.h>

G_BEGIN_DECLS

struct LigRankWatch {
  LigRanks *ranks;
  GMutex lock; /* guards `end`, `data`, `own_failure` and sending */
  LigRanksEnd end;
  gpointer data;
  GThread *thread;
  LigLink *links;
  int n_links;
  struct pollfd *polled;
  int wake;          /* written to when something below changes */
  int leaving, done; /* atomic: it is normal that others end; the thread must end */
  char *own_failure; /* of rank 0 */
  pid_t parent;      /* the launcher */
  gint64 orphaned;   /* monotonic time when the launcher was found to have ended, or 0 */
  gint64 silence;    /* in microseconds */

  /* The first failure of a rank, and the time at which it is reported. */
  char *failure;
  int failed;
  gint64 due;
  gboolean shared; /* rank 0 has the same */
};

typedef enum {
  LIG_RANK_ENDED,  /* a process has ended */
  LIG_RANK_FAILED, /* a process has reported a failure */
  LIG_RANK_SILENT, /* a process is stopped, or its machine is lost */
  LIG_RANK_SAID,   /* another rank has printed the message */
} LigRankReason;

/* Ends this process and, on rank 0, all others. Prints the message if this rank is the one that
 * reports it. Takes the message. */
void lig_rank_watch_stop (LigRankWatch *self, LigRankReason reason, char *sentence) G_GNUC_NORETURN;

/* Prints the message of a failure and ends this process, after which the launcher ends the
 * others. */
void lig_rank_end_unwatched (LigRanks *ranks, const char *message) G_GNUC_NORETURN;

/* Waits until the thread of the watch, or rank 0, ends this process. */
void lig_rank_wait_for_end (void) G_GNUC_NORETURN;

G_END_DECLS
