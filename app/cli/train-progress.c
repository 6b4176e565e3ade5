/* SPDX-License-Identifier: MIT */
/* Progress of a training: on a terminal one line that is replaced, elsewhere a line now and then.
 */
#include "app/cli/train-progress.h"

#include <ligature/printable.h>

#include <glib-unix.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
  LigRun *run;
  LigSweep *sweep; /* (nullable): the sweep of the run */
  int point;
  GMainLoop *loop;
  gboolean terminal;
  gint64 shown;                           /* monotonic time of the last line */
  guint interrupted, terminated, hung_up; /* sources of the signals, 0 after the signal */
  gboolean piped;                         /* the run was interrupted because the pipe broke */
} Watch;

/* Set when a write to a broken pipe fails, of the progress or of an engine message. */
static volatile sig_atomic_t pipe_broke;

/* Returns `3 of 12, 40 s left · `; empty for a training that is not of a sweep. */
static char *
describe_sweep (const Watch *watch, const LigRunProgress *progress)
{
  guint count;
  if (!watch->sweep)
    return g_strdup ("");
  lig_sweep_get_points (watch->sweep, &count);
  double left = lig_sweep_estimate_left (watch->sweep, watch->point, progress);
  g_autofree char *time = isfinite (left) ? lig_cli_format_time (left) : NULL;
  return g_strdup_printf ("%d of %u%s%s%s · ", watch->point + 1, count, time ? ", " : "",
                          time ? time : "", time ? " left" : "");
}

static char *
describe (const LigRunProgress *progress)
{
  g_autofree char *left =
    isnan (progress->left) ? g_strdup ("") : lig_cli_format_time (progress->left);
  g_autofree char *step = lig_cli_format_time (progress->step_seconds);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "step %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, progress->step,
                          progress->steps);
  if (!isnan (progress->loss))
    g_string_append_printf (text, " · loss %.4f", progress->loss);
  if (!isnan (progress->eval_loss))
    g_string_append_printf (text, " · held out %.4f", progress->eval_loss);
  if (!isnan (progress->loss_scale))
    g_string_append_printf (text, " · loss scale %.6g", progress->loss_scale);
  if (!isnan (progress->step_seconds))
    g_string_append_printf (text, " · %s a step · %.0f samples/s", step,
                            progress->samples_per_second);
  if (progress->step == progress->steps)
    g_string_append (text, " · evaluating");
  else if (*left)
    g_string_append_printf (text, " · %s left", left);
  return g_string_free (text, FALSE);
}

static void
note_pipe (int number)
{
  pipe_broke = 1;
}

static gboolean
show (gpointer data)
{
  Watch *watch = data;
  LigRunProgress progress;
  if (pipe_broke && !watch->piped) {
    watch->piped = TRUE;
    lig_run_interrupt (watch->run);
  }
  lig_run_get_progress (watch->run, &progress);
  gint64 time = g_get_monotonic_time ();
  if (progress.step == progress.first_step ||
      (!watch->terminal && time - watch->shown < 10 * G_USEC_PER_SEC))
    return G_SOURCE_CONTINUE;
  g_autofree char *sweep = describe_sweep (watch, &progress);
  g_autofree char *text = describe (&progress), *problem = lig_run_dup_problem (watch->run);
  g_autofree char *line = problem ? lig_printable (problem) : g_strdup ("");
  fprintf (stderr, watch->terminal ? "\r\033[K%s%s%s%s" : "%s%s%s%s\n", sweep, text,
           problem ? " · " : "", line);
  fflush (stderr);
  watch->shown = time;
  return G_SOURCE_CONTINUE;
}

static gboolean
interrupt (Watch *watch)
{
  if (watch->terminal)
    fputc ('\n', stderr);
  lig_cli_say ("interrupted: saving a checkpoint; press Ctrl+C again to end without one");
  lig_run_interrupt (watch->run);
  return G_SOURCE_REMOVE;
}

/* Each signal is caught once; a second one has its default effect and ends the program. */
static gboolean
interrupt_cb (gpointer data)
{
  Watch *watch = data;
  watch->interrupted = 0;
  return interrupt (watch);
}

static gboolean
terminate_cb (gpointer data)
{
  Watch *watch = data;
  watch->terminated = 0;
  return interrupt (watch);
}

static gboolean
hang_up_cb (gpointer data)
{
  Watch *watch = data;
  watch->hung_up = 0;
  return interrupt (watch);
}

/* Returns whether the parent process had the signal ignored, as nohup does. */
static gboolean
is_ignored (int number)
{
  struct sigaction action;
  return sigaction (number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void
catch_signals (Watch *watch)
{
  watch->interrupted = g_unix_signal_add (SIGINT, interrupt_cb, watch);
  watch->terminated = g_unix_signal_add (SIGTERM, terminate_cb, watch);
  if (!is_ignored (SIGHUP))
    watch->hung_up = g_unix_signal_add (SIGHUP, hang_up_cb, watch);
  if (!is_ignored (SIGPIPE))
    signal (SIGPIPE, note_pipe);
}

static void
ended_cb (LigRun *run, LigRunStatus status, const char *message, Watch *watch)
{
  g_main_loop_quit (watch->loop);
}

void
lig_cli_watch_run (LigRun *run)
{
  lig_cli_watch_sweep (run, NULL, 0);
}

void
lig_cli_watch_sweep (LigRun *run, LigSweep *sweep, int point)
{
  Watch watch = {.run = run,
                 .sweep = sweep,
                 .point = point,
                 .loop = g_main_loop_new (NULL, FALSE),
                 .terminal = isatty (STDERR_FILENO),
                 .shown = g_get_monotonic_time ()};
  catch_signals (&watch);
  guint interval = g_timeout_add (100, show, &watch);
  if (lig_run_describe_data (run) && point == 0)
    lig_cli_say ("%s", lig_run_describe_data (run));
  g_signal_connect (run, "ended", G_CALLBACK (ended_cb), &watch);
  lig_run_start (run);
  g_main_loop_run (watch.loop);
  g_source_remove (interval);
  g_clear_handle_id (&watch.interrupted, g_source_remove);
  g_clear_handle_id (&watch.terminated, g_source_remove);
  g_clear_handle_id (&watch.hung_up, g_source_remove);
  g_main_loop_unref (watch.loop);
  if (watch.terminal)
    fprintf (stderr, "\r\033[K");
}

static void
print_scaling (const LigRunProgress *progress)
{
  gboolean scaled = !isnan (progress->loss_scale), skipped = progress->skipped > 0;
  if (scaled)
    printf ("loss scale %.6g%s", progress->loss_scale, skipped ? "; " : "\n");
  if (skipped)
    printf ("%" G_GINT64_FORMAT " update%s skipped, as gradients were not finite\n",
            progress->skipped, LIG_ENDING (progress->skipped));
}

void
lig_cli_print_outcome (LigRun *run)
{
  LigRunProgress progress;
  lig_run_get_progress (run, &progress);
  g_autofree char *step = lig_cli_format_time (progress.step_seconds);
  g_autofree char *seconds = lig_cli_format_time (progress.seconds);
  const char *uuid = lig_run_get_uuid (run);
  printf ("%s after %" G_GINT64_FORMAT " step%s in %s", lig_run_status_name (progress.status),
          progress.step, LIG_ENDING (progress.step), seconds);
  if (!isnan (progress.loss))
    printf (": loss %.4g to %.4g", progress.first_loss, progress.loss);
  if (!isnan (progress.eval_loss))
    printf (", held out %.4g", progress.eval_loss);
  if (!isnan (progress.eval_accuracy))
    printf (" (%.1f %% right)", 100 * progress.eval_accuracy);
  printf (isnan (progress.step_seconds) ? "\n" : "; %s a step\n", step);
  print_scaling (&progress);
  if (uuid)
    printf ("run %s: lig runs show %.8s\n", uuid, uuid);
  if (lig_run_get_checkpoint (run))
    lig_cli_print ("checkpoint %s", lig_run_get_checkpoint (run));
}
