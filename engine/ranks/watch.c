/* SPDX-License-Identifier: MIT */
/* Monitors the liveness of the other ranks on a thread, and ends this process if one of them ends
 * or becomes silent.
 *
 * Rank 0 is connected to each other rank. Only rank 0 decides that all ranks must end, and why, and
 * ends the others; they decide only about rank 0. */
#include "engine/ranks/messages.h"
#include "engine/ranks/watch-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A heartbeat each second; a rank is silent after 15 seconds. */
#define INTERVAL (1 * G_USEC_PER_SEC)
#define SILENCE (15 * G_USEC_PER_SEC)

/* A failure is reported after this delay: it may be common to all ranks, or the consequence of
 * another rank's end, which closes its connection at about the same time. */
#define GRACE (300 * 1000)

/* The time for which the others wait for a message of rank 0 after the launcher has ended. */
#define WORD (3 * G_USEC_PER_SEC)

/* The watch of this process; a process joins ranks only once. */
static LigRankWatch *watch;

/* --- Reasons ------------------------------------------------------------------------------- */

static void
end_for_closed (LigRankWatch *self, int rank)
{
  const LigRankPlace *place = &self->ranks->places[rank];
  lig_rank_watch_stop (
    self, LIG_RANK_ENDED,
    g_strdup_printf (
      _ ("ranks: rank %d on %s ended (process %d); the last checkpoint can be resumed"), rank,
      place->host, (int) place->pid));
}

/* If another rank reports silence to rank 0, rank 0 itself was silent. */
static void
end_for_silence (LigRankWatch *self, int rank)
{
  const LigRankPlace *place = &self->ranks->places[rank];
  double seconds = (double) self->silence / G_USEC_PER_SEC;
  lig_rank_watch_stop (
    self, rank == self->ranks->rank ? LIG_RANK_SAID : LIG_RANK_SILENT,
    g_strdup_printf (_ ("ranks: rank %d on %s sent no heartbeat for %.3g seconds (process %d); the "
                        "last checkpoint can be resumed"),
                     rank, place->host, seconds, (int) place->pid));
}

static void
end_for_launcher (LigRankWatch *self)
{
  if (self->ranks->rank == 0)
    lig_rank_watch_stop (
      self, LIG_RANK_ENDED,
      g_strdup_printf (_ ("ranks: the launcher of rank 0 on %s ended (process %d); the last "
                          "checkpoint can be resumed"),
                       self->ranks->places[0].host, (int) self->parent));
  if (self->orphaned == 0)
    self->orphaned = g_get_monotonic_time ();
  if (g_get_monotonic_time () - self->orphaned > WORD)
    _exit (1);
}

/* Notes a failure; rank 0 reports it later. A failure that rank 0 shares with another rank is
 * common to all ranks. */
static void
note_failure (LigRankWatch *self, int rank, char *text)
{
  if (!self->failure) {
    self->failure = text;
    self->failed = rank;
    self->due = g_get_monotonic_time () + GRACE;
    return;
  }
  if (strcmp (self->failure, text) == 0 && rank != self->failed && (rank == 0 || self->failed == 0))
    self->shared = TRUE;
  g_free (text);
}

static void
report_failure (LigRankWatch *self)
{
  lig_rank_watch_stop (self, LIG_RANK_FAILED,
                       self->shared
                         ? g_strdup (self->failure)
                         : g_strdup_printf (_ ("rank %d on %s: %s"), self->failed,
                                            self->ranks->places[self->failed].host, self->failure));
}

/* --- The thread ---------------------------------------------------------------------------- */

static void
handle (LigRankWatch *self, LigLink *link)
{
  g_autofree char *text = NULL;
  int message;
  lig_link_receive (link);
  while ((message = lig_link_take (link, &text)))
    if (message == LIG_LINK_GOODBYE)
      link->left = TRUE;
    else if (message == LIG_LINK_END && self->ranks->rank > 0)
      _exit (1);
    else if (message == LIG_LINK_END)
      end_for_silence (self, 0);
    else if (message == LIG_LINK_FAILURE && self->ranks->rank == 0)
      note_failure (self, link->rank, g_steal_pointer (&text));
    else if (message == LIG_LINK_ABANDON)
      lig_rank_note_abandoned (self->ranks, (guint) strtoul (text, NULL, 10));
}

/* Ends if a link was closed without a goodbye. */
static void
check_closed (LigRankWatch *self)
{
  for (int i = 0; i < self->n_links && !g_atomic_int_get (&self->leaving); i++)
    if (self->links[i].socket < 0 && !self->links[i].left)
      end_for_closed (self, self->links[i].rank);
}

/* Waits for messages, at most until the next heartbeat. */
static void
wait_for_messages (LigRankWatch *self, gint64 until)
{
  gsize count = (gsize) self->n_links;
  gint64 left = MAX ((until - g_get_monotonic_time ()) / 1000, 0);
  for (gsize i = 0; i < count; i++)
    self->polled[i] = (struct pollfd){.fd = self->links[i].socket, .events = POLLIN};
  self->polled[count] = (struct pollfd){.fd = self->wake, .events = POLLIN};
  if (poll (self->polled, count + 1, (int) left) <= 0)
    return;
  guint64 ignored;
  if (self->polled[count].revents && read (self->wake, &ignored, sizeof ignored) < 0)
    return;
  for (gsize i = 0; i < count; i++)
    if (self->polled[i].revents)
      handle (self, &self->links[i]);
  check_closed (self);
}

static void
give_sign (LigRankWatch *self)
{
  for (int i = 0; i < self->n_links; i++) {
    LigLink *link = &self->links[i];
    g_mutex_lock (&self->lock);
    lig_link_send (link, LIG_LINK_SIGN, NULL);
    g_mutex_unlock (&self->lock);
    if (link->socket >= 0 && !link->left && !g_atomic_int_get (&self->leaving) &&
        link->quiet > self->silence)
      end_for_silence (self, link->rank);
  }
  if (self->parent > 1 && getppid () != self->parent)
    end_for_launcher (self);
}

/* Takes a failure of this process that another thread has noted. */
static void
take_failure (LigRankWatch *self)
{
  g_mutex_lock (&self->lock);
  char *text = g_steal_pointer (&self->own_failure);
  g_mutex_unlock (&self->lock);
  if (text)
    note_failure (self, 0, text);
  if (self->failure && g_get_monotonic_time () >= self->due)
    report_failure (self);
}

/* If this thread slept for longer than intended, it was stopped itself (Ctrl+Z stops all ranks), or
 * the machine is busy, and the silence of others is unknown. So at most the time between two
 * heartbeats is counted. */
static void
count_quiet (LigRankWatch *self, gint64 passed)
{
  for (int i = 0; i < self->n_links; i++)
    self->links[i].quiet += MIN (passed, INTERVAL);
}

static gpointer
run (gpointer data)
{
  LigRankWatch *self = data;
  gint64 next = 0, last = g_get_monotonic_time ();
  while (!g_atomic_int_get (&self->done)) {
    wait_for_messages (self, self->failure ? MIN (self->due, next) : next);
    gint64 now = g_get_monotonic_time ();
    count_quiet (self, now - last);
    last = now;
    take_failure (self);
    if (now >= next) {
      give_sign (self);
      next = now + MIN (INTERVAL, self->silence / 4);
    }
  }
  return NULL;
}

/* --- Beginning and ending ------------------------------------------------------------------ */

/* Tests shorten the timeout. */
static gint64
find_silence (void)
{
  const char *text = g_getenv ("LIGATURE_RANKS_SILENCE");
  double seconds = text ? g_ascii_strtod (text, NULL) : 0;
  return seconds >= 1 && seconds <= 3600 ? (gint64) (seconds * G_USEC_PER_SEC) : SILENCE;
}

/* Starts the thread with all signals blocked: the program handles them, and SIGPIPE from a launcher
 * that has ended must not end this process before it has reported the reason. */
static void
start (LigRankWatch *self)
{
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  self->thread = g_thread_new ("ranks", run, self);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
}

gboolean
lig_ranks_watch (LigRanks *ranks, LigRanksEnd end, gpointer data, GError **error)
{
  if (!ranks || ranks->count == 1)
    return TRUE;
  if (watch) {
    g_mutex_lock (&watch->lock);
    watch->end = end;
    watch->data = data;
    g_mutex_unlock (&watch->lock);
    return TRUE;
  }
  int count = 0;
  LigLink *links = lig_link_all (ranks, &count, error);
  if (!links)
    return FALSE;
  watch = g_new0 (LigRankWatch, 1);
  *watch = (LigRankWatch){.ranks = ranks,
                          .end = end,
                          .data = data,
                          .links = links,
                          .n_links = count,
                          .polled = g_new0 (struct pollfd, (gsize) count + 1),
                          .wake = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK),
                          .parent = getppid (),
                          .silence = find_silence ()};
  ranks->watch = watch;
  start (watch);
  return TRUE;
}

static void
wake (LigRankWatch *self)
{
  guint64 one = 1;
  while (write (self->wake, &one, sizeof one) < 0 && errno == EINTR)
    continue;
}

/* Sends a message with a number to the other ranks. */
static void
send_number (LigRankWatch *self, LigLinkMessage message, guint number)
{
  g_autofree char *text = g_strdup_printf ("%u", number);
  g_mutex_lock (&self->lock);
  for (int i = 0; i < self->n_links; i++)
    lig_link_send (&self->links[i], message, text);
  g_mutex_unlock (&self->lock);
}

void
lig_rank_watch_leave (LigRankWatch *self)
{
  if (!self)
    return;
  g_atomic_int_set (&self->leaving, TRUE);
  g_mutex_lock (&self->lock);
  for (int i = 0; i < self->n_links; i++)
    lig_link_send (&self->links[i], LIG_LINK_GOODBYE, NULL);
  g_mutex_unlock (&self->lock);
}

void
lig_rank_watch_end (LigRankWatch *self)
{
  if (!self)
    return;
  g_atomic_int_set (&self->done, TRUE);
  wake (self);
  g_thread_join (self->thread);
  for (int i = 0; i < self->n_links; i++)
    lig_link_close (&self->links[i]);
}

void
lig_ranks_fail (LigRanks *ranks, const char *message)
{
  if (!ranks)
    return;
  if (!ranks->watch)
    lig_rank_end_unwatched (ranks, message);
  g_mutex_lock (&watch->lock);
  if (ranks->rank == 0)
    watch->own_failure = g_strdup (message);
  else
    lig_link_send (&watch->links[0], LIG_LINK_FAILURE, message);
  g_mutex_unlock (&watch->lock);
  wake (watch);
  lig_rank_wait_for_end ();
}

void
lig_ranks_abandon (LigRanks *self, guint work)
{
  if (!self || self->rank > 0 || work == 0)
    return;
  lig_rank_note_abandoned (self, work);
  if (self->watch)
    send_number (self->watch, LIG_LINK_ABANDON, work);
}
