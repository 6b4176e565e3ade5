/* SPDX-License-Identifier: MIT */
/* Makes a `lig` one of several ranks. */
#include "app/cli/rank.h"

#include "app/cli/attach.h"
#include "app/cli/fail.h"
#include "app/cli/live.h"
#include "app/cli/metrics.h"
#include "app/cli/modes.h"
#include <ligature/store.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static LigRanks *ranks;

/* Standard error of a rank other than rank 0, until it has joined: rank 0 prints the same messages
 * up to then. */
static int errors_of_other = -1;

/* Read by the watchdog thread when it ends this process. */
static int ending; /* atomic */
static GMutex lock;
static GError *own_error;
static LigRun *run;
static LigStore *store;
static LigCliLost lost_run;

/* --- Beginning ----------------------------------------------------------------------------- */

/* Returns this rank's index before it has joined, from its launcher; 0 if unknown. */
static int
guess_rank (void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  guint64 rank;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_getenv (names[i]) &&
        g_ascii_string_to_unsigned (g_getenv (names[i]), 10, 0, G_MAXINT, &rank, NULL))
      return (int) rank;
  return 0;
}

static void
discard (int stream)
{
  int nothing = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) {
    dup2 (nothing, stream);
    close (nothing);
  }
}

void
lig_cli_rank_begin (void)
{
  if (lig_ranks_launched () < 2)
    return;
  if (guess_rank () == 0) {
    lig_cli_attach_take ();
    return;
  }
  errors_of_other = fcntl (STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  discard (STDOUT_FILENO);
  discard (STDERR_FILENO);
}

/* --- The end because of another rank ------------------------------------------------------- */

static void
record_end (const char *message, gboolean failed)
{
  g_mutex_lock (&lock);
  const char *uuid = run && store ? lig_run_get_uuid (run) : NULL;
  gboolean goes_on = !failed && lost_run == LIG_CLI_LOST_INTERRUPTED;
  if (uuid)
    lig_store_finish_run (store, uuid, goes_on ? "interrupted" : "failed", message, NULL);
  g_mutex_unlock (&lock);
}

/* Returns this rank's error if the message is about it; (transfer full). */
static GError *
take_own_error (const char *message)
{
  g_mutex_lock (&lock);
  g_autoptr (GError) error = g_steal_pointer (&own_error);
  g_mutex_unlock (&lock);
  g_autofree char *phrase = error ? lig_cli_phrase (error) : NULL;
  return phrase && g_str_has_suffix (message, phrase) ? g_steal_pointer (&error) : NULL;
}

void
lig_cli_rank_hold (void)
{
  while (g_atomic_int_get (&ending))
    pause ();
}

/* The watchdog itself prints the message. */
static void
end (const char *message, gboolean failed, gpointer data)
{
  g_atomic_int_set (&ending, TRUE);
  lig_cli_live_clear ();
  lig_cli_live_forbid ();
  record_end (message, failed);
  g_autoptr (GError) error = take_own_error (message);
  gboolean whole = lig_cli_metrics_stop ();
  if (whole && error)
    lig_cli_print_failure (lig_cli_code_name (error), message, lig_error_get_path (error));
  else if (whole)
    lig_cli_print_failure ("ranks", message, NULL);
  fflush (stdout);
  lig_cli_attach_send_code (error ? lig_cli_exit_code (error) : LIG_EXIT_FAILED);
}

/* --- Joining ------------------------------------------------------------------------------- */

/* Signals reach all ranks; rank 0 handles them for all. */
static void
ignore_signals (void)
{
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    signal (numbers[i], SIG_IGN);
}

static void
be_quiet (void)
{
  lig_cli_set_quiet (TRUE);
  if (errors_of_other >= 0) {
    dup2 (errors_of_other, STDERR_FILENO);
    close (errors_of_other);
    errors_of_other = -1;
  }
  discard (STDOUT_FILENO);
}

/* Ends a rank that waits for others that never come. Calls only async-signal-safe functions. */
static void
give_up_joining (int number)
{
  static const char text[] =
    "lig: ranks: MPI did not start within 300 seconds; start the run again\n";
  if (write (STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit (LIG_EXIT_FAILED);
  _exit (LIG_EXIT_FAILED);
}

/* Until this rank has joined, no watchdog monitors its launcher: without the launcher MPI would
 * wait forever. */
static void
watch_joining (void)
{
  enum { LONGEST_JOIN = 300 };
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  signal (SIGALRM, give_up_joining);
  alarm (LONGEST_JOIN);
}

static void
end_joining (void)
{
  alarm (0);
  signal (SIGALRM, SIG_DFL);
  prctl (PR_SET_PDEATHSIG, 0);
}

gboolean
lig_cli_rank_join (GError **error)
{
  if (lig_ranks_launched () < 2)
    return TRUE;
  watch_joining ();
  LigRanks *joined = lig_ranks_join (error);
  if (!joined)
    return FALSE;
  if (lig_ranks_get_count (joined) < 2)
    return TRUE;
  if (lig_ranks_get_rank (joined) > 0) {
    be_quiet ();
    ignore_signals ();
  }
  ranks = joined;
  gboolean watched = lig_ranks_watch (ranks, end, NULL, error);
  end_joining ();
  return watched;
}

LigRanks *
lig_cli_rank_get (void)
{
  return ranks;
}

gboolean
lig_cli_rank_is_first (void)
{
  return lig_ranks_get_rank (ranks) == 0;
}

/* --- Standard input ------------------------------------------------------------------------ */

static char *
read_input (GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char bytes[4096];
  gssize count;
  while ((count = read (STDIN_FILENO, bytes, sizeof bytes)) != 0)
    if (count > 0)
      g_string_append_len (text, bytes, count);
    else if (errno != EINTR)
      break;
  if (count == 0)
    return g_string_free (g_steal_pointer (&text), FALSE);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "standard input: cannot be read: %s",
               g_strerror (errno));
  return NULL;
}

/* Makes the text the standard input of this process. */
static gboolean
replace_input (const char *text, GError **error)
{
  gssize length = (gssize) strlen (text);
  int file = memfd_create ("input", MFD_CLOEXEC);
  gboolean done = file >= 0 && write (file, text, (gsize) length) == length &&
                  lseek (file, 0, SEEK_SET) == 0 && dup2 (file, STDIN_FILENO) == STDIN_FILENO;
  if (!done)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "standard input: cannot be passed to ranks: %s",
                 g_strerror (errno));
  if (file >= 0)
    close (file);
  return done;
}

gboolean
lig_cli_rank_share_input (GError **error)
{
  g_autofree char *text = NULL;
  if (!ranks)
    return TRUE;
  if (lig_cli_rank_is_first () && !(text = read_input (error)))
    return FALSE;
  return lig_ranks_broadcast_text (ranks, &text, error) && replace_input (text, error);
}

/* --- Ending -------------------------------------------------------------------------------- */

void
lig_cli_rank_record (LigRun *recorded, LigStore *where, LigCliLost lost)
{
  g_mutex_lock (&lock);
  run = recorded;
  store = where;
  lost_run = lost;
  g_mutex_unlock (&lock);
}

int
lig_cli_rank_fail (GError *error)
{
  if (!ranks)
    return lig_cli_fail (error);
  g_autofree char *message = lig_cli_phrase (error);
  g_mutex_lock (&lock);
  own_error = error;
  g_mutex_unlock (&lock);
  lig_ranks_fail (ranks, message);
  return LIG_EXIT_FAILED;
}

int
lig_cli_rank_end (int code)
{
  gboolean first = lig_cli_rank_is_first ();
  lig_cli_rank_hold ();
  /* The result is complete before the other ranks may end. A failure is reported at exit. */
  if (ranks && code == LIG_EXIT_OK && (fflush (stdout) != 0 || ferror (stdout)))
    code = LIG_EXIT_FAILED;
  /* A success is final. MPI_Finalize() may hang, because mpirun waits for anything that connects to
   * its port and stays silent: the launching `lig`, which knows the exit code, then ends it. */
  gboolean told = code == LIG_EXIT_OK && lig_cli_attach_send_code (code);
  lig_ranks_leave ();
  ranks = NULL;
  return told || lig_cli_attach_send_code (code) || !first ? LIG_EXIT_OK : code;
}
