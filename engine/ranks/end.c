/* SPDX-License-Identifier: MIT */
/* Ends this process because of another rank, even if its other threads hang. */
#include "engine/ranks/watch-private.h"

#include <glib/gi18n-lib.h>
#include <ligature/printable.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The time limit for the program to record the reason, and for MPI to end all ranks, in seconds. */
enum { LONGEST_END = 8, LONGEST_ABORT = 3 };

/* The time between the message to the others and the end of this process, in microseconds. */
enum { MOMENT = 200000 };

/* The time after which a rank ends by itself if rank 0 has not ended it, in seconds. */
enum { LONGEST_WAIT = 20 };

static void
print (const char *sentence)
{
  g_autofree char *line = lig_printable (sentence);
  const char *name = g_get_prgname ();
  g_autofree char *text = g_strdup_printf ("%s: %s\n", name ? name : "ligature", line);
  /* Unbuffered, because another thread may hold the lock of a buffer. */
  gssize written = write (STDERR_FILENO, text, strlen (text));
  (void) written;
}

/* --- The end of one process ---------------------------------------------------------------- */

static gpointer
abort_mpi (gpointer data)
{
  LigRanks *ranks = data;
  g_mutex_lock (&ranks->mpi->lock);
  ranks->mpi->abort (ranks->mpi->world, 1);
  g_mutex_unlock (&ranks->mpi->lock);
  return NULL;
}

/* Ends this process with a failure, after which the launcher ends the others. A stopped process may
 * not react to that, so MPI aborts all ranks; after the time limit this process ends by itself. */
static void G_GNUC_NORETURN
end_all (LigRanks *ranks, LigRankReason reason)
{
  if (reason != LIG_RANK_SILENT) {
    g_usleep (MOMENT);
    _exit (1);
  }
  g_thread_unref (g_thread_new ("end", abort_mpi, ranks));
  g_usleep (LONGEST_ABORT * G_USEC_PER_SEC);
  _exit (1);
}

typedef struct {
  LigRanks *ranks;
  const char *sentence;
  int printed; /* atomic */
} Last;

static void
print_once (Last *last)
{
  if (g_atomic_int_compare_and_exchange (&last->printed, FALSE, TRUE))
    print (last->sentence);
}

/* Ends the process if the program's last callback does not return. */
static gpointer
limit (gpointer data)
{
  Last *last = data;
  g_usleep (LONGEST_END * G_USEC_PER_SEC);
  print_once (last);
  end_all (last->ranks, LIG_RANK_SILENT);
}

static void G_GNUC_NORETURN
stop_first (LigRankWatch *self, LigRankReason reason, char *sentence)
{
  Last *last = g_new0 (Last, 1);
  *last = (Last){.ranks = self->ranks, .sentence = sentence, .printed = reason == LIG_RANK_SAID};
  g_thread_unref (g_thread_new ("limit", limit, last));
  g_mutex_lock (&self->lock);
  LigRanksEnd end = self->end;
  gpointer data = self->data;
  g_mutex_unlock (&self->lock);
  if (end)
    end (sentence, reason == LIG_RANK_FAILED, data);
  print_once (last);
  for (int i = 0; i < self->n_links; i++)
    lig_link_send (&self->links[i], LIG_LINK_END, NULL);
  end_all (self->ranks, reason);
}

/* Returns how many machines have ranks before this one, or -1 if an earlier rank other than rank 0
 * is on this machine and prints the message. */
static int
find_turn (LigRanks *ranks)
{
  int machines = 0;
  const char *own = ranks->places[ranks->rank].host;
  for (int rank = 1; rank < ranks->rank; rank++) {
    const char *host = ranks->places[rank].host;
    if (strcmp (host, own) == 0)
      return -1;
    machines += rank == 1 || strcmp (host, ranks->places[rank - 1].host) != 0;
  }
  return machines;
}

/* Rank 0 has ended or is silent. One rank reports that and ends all. Because its machine may have
 * failed together with rank 0's, the first rank of each further machine does so a moment later. */
static void G_GNUC_NORETURN
stop_other (LigRankWatch *self, LigRankReason reason, const char *sentence)
{
  enum { MAX_WAIT = 5 };
  int turn = find_turn (self->ranks);
  g_usleep ((gulong) (turn < 0 ? MAX_WAIT : MIN (turn, MAX_WAIT)) * G_USEC_PER_SEC);
  if (turn >= 0)
    print (sentence);
  /* A stopped rank 0 may be continued, and must not report that this rank has ended. */
  lig_link_send (&self->links[0], LIG_LINK_END, NULL);
  end_all (self->ranks, reason);
}

void
lig_rank_watch_stop (LigRankWatch *self, LigRankReason reason, char *sentence)
{
  if (self->ranks->rank == 0)
    stop_first (self, reason, sentence);
  stop_other (self, reason, sentence);
}

void
lig_rank_end_unwatched (LigRanks *ranks, const char *message)
{
  g_autofree char *sentence = g_strdup_printf (_ ("rank %d on %s: %s"), ranks->rank,
                                               ranks->places[ranks->rank].host, message);
  print (sentence);
  end_all (ranks, LIG_RANK_ENDED);
}

void
lig_rank_wait_for_end (void)
{
  g_usleep (LONGEST_WAIT * G_USEC_PER_SEC);
  _exit (1);
}
