/* SPDX-License-Identifier: MIT */
/* Replaces the last line of the terminal. After the text the cursor returns to the beginning of the
 * line: if the terminal becomes narrower, it wraps the text below the cursor, where the next update
 * clears all of it. */
#include "app/cli/live.h"

#include "app/cli/modes.h"
#include "app/cli/terminal.h"

#include <ligature/columns.h>
#include <ligature/printable.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns to the first column and clears everything from there on. */
static const char CLEAR[] = "\r\033[J";

/* Guards `present`. Signal handlers read only `shown` and `painter`. */
static GRecMutex lock;
static char *present;
static int present_columns;
static volatile sig_atomic_t shown;
static pthread_t painter; /* the thread that shows lines */

static gboolean forbidden;

gboolean
lig_cli_live (void)
{
  const char *term = g_getenv ("TERM");
  return isatty (STDERR_FILENO) && term && *term && strcmp (term, "dumb") != 0 &&
         !g_getenv ("CI") && !lig_cli_quiet () && !forbidden;
}

gboolean
lig_cli_logged (void)
{
  return !lig_cli_live () && !lig_cli_quiet () && !forbidden;
}

void
lig_cli_live_forbid (void)
{
  forbidden = isatty (STDERR_FILENO);
}

int
lig_cli_live_columns (void)
{
  struct winsize size;
  int columns = lig_cli_width (STDERR_FILENO);
  /* COLUMNS may be outdated after a resize. */
  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    columns = MIN (columns, size.ws_col);
  /* Some terminals wrap a line as soon as its last column is written. */
  return MAX (columns - 1, 1);
}

static void
emit (const char *bytes, gsize count)
{
  while (count > 0) {
    gssize written = write (STDERR_FILENO, bytes, count);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    bytes += written;
    count -= (gsize) written;
  }
}

/* --- Signals ------------------------------------------------------------------------------- */

static void
wipe (void)
{
  if (shown)
    emit (CLEAR, sizeof CLEAR - 1);
  shown = 0;
}

/* Forwards a signal to the thread that shows lines, which could otherwise show another one before
 * the signal takes effect. Returns whether that is another thread. */
static gboolean
pass_on (int number)
{
  return !pthread_equal (pthread_self (), painter) && pthread_kill (painter, number) == 0;
}

/* The default effect follows when the handler returns. */
static void
end (int number)
{
  if (pass_on (number))
    return;
  wipe ();
  signal (number, SIG_DFL);
  raise (number);
}

static void stop (int number);

static void catch (int number, void (*handler) (int))
{
  struct sigaction action;
  if (sigaction (number, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
    return;
  action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset (&action.sa_mask);
  sigaction (number, &action, NULL);
}

/* Ctrl+Z: the program stops inside the handler, and the next update shows the line again. */
static void
stop (int number)
{
  int kept = errno;
  sigset_t set;
  if (pass_on (number)) {
    errno = kept;
    return;
  }
  wipe ();
  signal (number, SIG_DFL);
  sigemptyset (&set);
  sigaddset (&set, number);
  pthread_sigmask (SIG_UNBLOCK, &set, NULL);
  raise (number);
  catch (number, stop);
  errno = kept;
}

/* Catches those signals that are neither caught nor ignored yet. */
static void
catch_signals (void)
{
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    catch (ends[i], end);
  catch (SIGTSTP, stop);
}

/* --- The line ------------------------------------------------------------------------------ */

static GLogWriterOutput
log_below (GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data)
{
  lig_cli_live_clear ();
  return g_log_writer_default (level, fields, count, data);
}

static pid_t shared_group = -1;

void
lig_cli_live_share (pid_t group)
{
  shared_group = group;
}

static gboolean
is_in_background (void)
{
  pid_t group = tcgetpgrp (STDERR_FILENO);
  return group >= 0 && group != getpgrp () && group != shared_group;
}

/* Returns the text in the encoding of the terminal. */
static char *
encode (const char *text)
{
  const char *charset;
  if (g_get_charset (&charset))
    return g_strdup (text);
  char *converted = g_convert_with_fallback (text, -1, charset, "UTF-8", "?", NULL, NULL, NULL);
  return converted ? converted : g_strdup ("");
}

void
lig_cli_live_show (const char *text)
{
  static gsize logging;
  if (!lig_cli_live () || is_in_background ())
    return;
  if (g_once_init_enter (&logging)) {
    g_log_set_writer_func (log_below, NULL, NULL);
    g_once_init_leave (&logging, 1);
  }
  g_autofree char *line = lig_printable (text);
  int columns = lig_cli_live_columns ();
  g_autofree char *fitted = lig_columns_elide (line, columns);
  g_autofree char *encoded = encode (fitted);
  g_autofree char *bytes = g_strconcat ("\r", encoded, "\033[J\r", NULL);
  g_rec_mutex_lock (&lock);
  painter = pthread_self ();
  catch_signals ();
  gboolean changed = !shown || columns != present_columns || g_strcmp0 (bytes, present) != 0;
  /* A signal may come as soon as the line is visible. */
  shown = 1;
  if (changed)
    emit (bytes, strlen (bytes));
  present_columns = columns;
  g_free (present);
  present = g_steal_pointer (&bytes);
  g_rec_mutex_unlock (&lock);
}

void
lig_cli_live_clear (void)
{
  g_rec_mutex_lock (&lock);
  if (!is_in_background ())
    wipe ();
  shown = 0;
  g_rec_mutex_unlock (&lock);
}
