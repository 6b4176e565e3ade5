/* SPDX-License-Identifier: MIT */
/* Progress of a training run: on a terminal one line that is updated, otherwise a line now and
 * then. */
#include "app/cli/train-progress.h"

#include "app/cli/duration.h"
#include "app/cli/live.h"
#include "app/cli/metrics.h"
#include "app/cli/progress.h"
#include "app/cli/rank.h"

#include <glib-unix.h>
#include <math.h>
#include <signal.h>
#include <string.h>

typedef struct {
  LigRun *run;
  LigSweep *sweep; /* (nullable): the sweep of the run */
  int point;
  GMainLoop *loop;
  LigCliCadence *cadence;
  gint64 evaluation;                      /* monotonic time when it began, 0 if there is none */
  gint64 began, printed;                  /* monotonic time; the step of the last printed line */
  char *problem;                          /* the last problem that was reported */
  gint64 sampled;                         /* the step of the last sample that was shown */
  guint interrupted, terminated, hung_up; /* sources of the signals, 0 after the signal */
  guint requested;                        /* the same for the signal that mpirun forwards */
  guint doubt;                            /* the timeout after a signal, or 0 */
  gboolean piped;                         /* the run was interrupted because the pipe broke */
} Watch;

/* Set when a write of progress or of an engine message to a broken pipe fails. */
static volatile sig_atomic_t pipe_broke;

/* --- The line ------------------------------------------------------------------------------ */

/* The priorities of the parts. Parts up to LIG_CLI_LAST_ESSENTIAL_PRIORITY are abbreviated before
 * they are omitted. */
enum { STEP, LOSS, EVALUATING, RATE = EVALUATING, LEFT, POINT, VALIDATION, STEP_TIME, LOSS_SCALE };

static void
add_step (GArray *line, const LigRunProgress *progress)
{
  char *brief =
    g_strdup_printf ("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, progress->step, progress->steps);
  lig_cli_line_add (line, STEP, g_strconcat ("step ", brief, NULL), brief);
}

/* Returns a loss with a constant number of digits, which keeps the line still; a diverged one is
 * brief. */
static char *
format_loss (double loss)
{
  return g_strdup_printf (fabs (loss) < 1e5 ? "%.4f" : "%.4g", loss);
}

static void
add_losses (GArray *line, const LigRunProgress *progress)
{
  if (!isnan (progress->loss)) {
    char *brief = format_loss (progress->loss);
    lig_cli_line_add (line, LOSS, g_strconcat ("loss ", brief, NULL), brief);
  }
  g_autofree char *validation = format_loss (progress->eval_loss);
  if (!isnan (progress->eval_loss))
    lig_cli_line_add (line, VALIDATION, g_strconcat ("validation loss ", validation, NULL), NULL);
  if (!isnan (progress->loss_scale))
    lig_cli_line_add (line, LOSS_SCALE, g_strdup_printf ("loss scale %.6g", progress->loss_scale),
                      NULL);
}

/* Adds the progress of the evaluation, which replaces the rate. */
static gboolean
add_evaluation (GArray *line, Watch *watch, const LigRunProgress *progress)
{
  gint64 batch, batches, now = g_get_monotonic_time ();
  if (!lig_run_get_evaluation (watch->run, &batch, &batches)) {
    watch->evaluation = 0;
    return FALSE;
  }
  if (watch->evaluation == 0 || batch == 0)
    watch->evaluation = now;
  /* The time of earlier evaluations is included in the run's. */
  if (batch > 0 && progress->step >= progress->steps && !watch->sweep) {
    double seconds = (double) (now - watch->evaluation) / G_USEC_PER_SEC;
    char *time = lig_cli_format_left (seconds / (double) batch * (double) (batches - batch));
    lig_cli_line_add (line, LEFT, g_strconcat (time, " left", NULL), time);
  }
  lig_cli_line_add (
    line, EVALUATING,
    g_strdup_printf ("evaluating %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, batch, batches),
    g_strdup ("evaluating"));
  return TRUE;
}

/* Returns `6.4`, `640`, `12800` or `2.29 M`. */
static char *
format_rate (double rate)
{
  return rate < 99.5    ? g_strdup_printf ("%.3g", rate)
         : rate < 99999 ? g_strdup_printf ("%.0f", rate)
                        : lig_units_count (rate);
}

static void
add_rate (GArray *line, const LigRunProgress *progress)
{
  if (isnan (progress->step_seconds) || isnan (progress->samples_per_second))
    return;
  g_autofree char *rate = format_rate (progress->samples_per_second);
  lig_cli_line_add (line, RATE, g_strconcat (rate, " samples/s", NULL),
                    g_strconcat (rate, "/s", NULL));
  g_autofree char *time = lig_cli_format_time (progress->step_seconds);
  lig_cli_line_add (line, STEP_TIME, g_strconcat (time, " a step", NULL), NULL);
}

/* In a sweep it is the time of all its runs. */
static void
add_left (GArray *line, const Watch *watch, const LigRunProgress *progress)
{
  double left =
    watch->sweep ? lig_sweep_estimate_left (watch->sweep, watch->point, progress) : progress->left;
  if (!isfinite (left) || progress->status != LIG_RUN_RUNNING || progress->searching ||
      progress->step >= progress->steps)
    return;
  char *time = lig_cli_format_left (left);
  lig_cli_line_add (line, LEFT, g_strconcat (time, " left", NULL), time);
}

static char *
describe (Watch *watch, const LigRunProgress *progress, int columns)
{
  guint count = 0;
  g_autoptr (GArray) line = lig_cli_line_new ();
  if (watch->sweep) {
    lig_sweep_get_points (watch->sweep, &count);
    char *brief = g_strdup_printf ("%d/%u", watch->point + 1, count);
    lig_cli_line_add (line, POINT, g_strconcat ("run ", brief, NULL), brief);
  }
  add_step (line, progress);
  add_losses (line, progress);
  if (progress->searching)
    lig_cli_line_add (line, EVALUATING, g_strdup ("autotuning kernels"), g_strdup ("searching"));
  else if (!add_evaluation (line, watch, progress))
    add_rate (line, progress);
  add_left (line, watch, progress);
  return lig_cli_line_lay_out (line, columns);
}

/* --- Updates ------------------------------------------------------------------------------- */

static void
note_pipe (int number)
{
  pipe_broke = 1;
}

/* Reports once that a checkpoint or a value could not be written. */
/* Shows a new sample in one line. */
static void
say_sample (Watch *watch)
{
  enum { SHOWN = 160 };
  gint64 step;
  g_autofree char *text = lig_run_get_sample (watch->run, &step);
  if (!text || step == watch->sampled)
    return;
  watch->sampled = step;
  g_autofree char *whole = g_strdup (text);
  g_strdelimit (whole, "\n\r\t", ' ');
  g_autofree char *cut = g_utf8_substring (whole, 0, MIN (g_utf8_strlen (whole, -1), SHOWN));
  lig_cli_say ("sample after step %" G_GINT64_FORMAT ": %s%s", step, cut,
               strlen (cut) < strlen (whole) ? "…" : "");
}

static void
say_problem (Watch *watch)
{
  g_autofree char *problem = lig_run_dup_problem (watch->run);
  if (!problem || g_strcmp0 (problem, watch->problem) == 0)
    return;
  lig_cli_warn ("%s", problem);
  g_free (watch->problem);
  watch->problem = g_steal_pointer (&problem);
}

/* Returns the share of the run, or of the whole sweep. */
static double
find_share (const Watch *watch, const LigRunProgress *progress)
{
  guint count = 1;
  double share = progress->steps > 0 ? (double) progress->step / (double) progress->steps : 1;
  if (watch->sweep)
    lig_sweep_get_points (watch->sweep, &count);
  return (watch->point + share) / MAX (count, 1);
}

static void
print_line (Watch *watch, const LigRunProgress *progress)
{
  g_autofree char *text = describe (watch, progress, 0);
  g_printerr ("%s\n", text);
  watch->printed = progress->step;
}

static void
show (Watch *watch)
{
  LigRunProgress progress;
  gint64 now = g_get_monotonic_time ();
  lig_run_get_progress (watch->run, &progress);
  gboolean begun = progress.step > progress.first_step;
  if (lig_cli_live ()) {
    g_autofree char *text = describe (watch, &progress, lig_cli_live_columns ());
    if (begun || now - watch->began > G_USEC_PER_SEC)
      lig_cli_live_show (text);
  } else if (begun && lig_cli_logged () &&
             lig_cli_cadence_due (watch->cadence, find_share (watch, &progress), now)) {
    print_line (watch, &progress);
  }
}

static gboolean
update (gpointer data)
{
  Watch *watch = data;
  if (pipe_broke && !watch->piped) {
    watch->piped = TRUE;
    lig_run_interrupt (watch->run);
  }
  say_sample (watch);
  say_problem (watch);
  show (watch);
  return G_SOURCE_CONTINUE;
}

/* Removes the line. A log file gets the last step; in a sweep each run has its own line. */
static void
show_last (Watch *watch)
{
  LigRunProgress progress;
  lig_run_get_progress (watch->run, &progress);
  lig_cli_live_clear ();
  say_sample (watch);
  say_problem (watch);
  if (lig_cli_logged () && !watch->sweep && progress.step > progress.first_step &&
      progress.step != watch->printed)
    print_line (watch, &progress);
}

/* --- Signals ------------------------------------------------------------------------------- */

/* mpirun terminates all ranks when one has died. The watchdog then ends this process within this
 * time, in milliseconds, and prints why. */
#define DOUBT 250

static gboolean
interrupt (Watch *watch)
{
  lig_cli_rank_hold ();
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
request_cb (gpointer data)
{
  Watch *watch = data;
  watch->requested = 0;
  return interrupt (watch);
}

static gboolean
doubt_cb (gpointer data)
{
  Watch *watch = data;
  watch->doubt = 0;
  return interrupt (watch);
}

static gboolean
terminate_cb (gpointer data)
{
  Watch *watch = data;
  watch->terminated = 0;
  if (!lig_cli_rank_get ())
    return interrupt (watch);
  watch->doubt = g_timeout_add (DOUBT, doubt_cb, watch);
  return G_SOURCE_REMOVE;
}

static gboolean
hang_up_cb (gpointer data)
{
  Watch *watch = data;
  watch->hung_up = 0;
  return interrupt (watch);
}

/* Returns whether the parent process set the signal to be ignored, as nohup does. */
static gboolean
is_ignored (int number)
{
  struct sigaction action;
  return sigaction (number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Rank 0 handles the signals for all ranks. */
static void
catch_signals (Watch *watch)
{
  if (!lig_cli_rank_is_first ())
    return;
  if (lig_cli_rank_get ())
    watch->requested = g_unix_signal_add (SIGUSR1, request_cb, watch);
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

/* Prints the data, and the values that the run has chosen by itself. */
static void
introduce (LigRun *run)
{
  if (lig_run_describe_data (run))
    lig_cli_say ("%s", lig_run_describe_data (run));
  for (const char *const *remark = lig_run_get_remarks (run); *remark; remark++)
    lig_cli_say ("%s", *remark);
}

static void
watch_run (LigRun *run, LigSweep *sweep, int point, LigCliCadence *cadence)
{
  Watch watch = {.run = run,
                 .sweep = sweep,
                 .point = point,
                 .loop = g_main_loop_new (NULL, FALSE),
                 .cadence = cadence,
                 .printed = -1,
                 .began = g_get_monotonic_time ()};
  catch_signals (&watch);
  guint interval = g_timeout_add (100, update, &watch);
  if (point == 0)
    introduce (run);
  g_signal_connect (run, "ended", G_CALLBACK (ended_cb), &watch);
  lig_run_start (run);
  lig_cli_metrics_follow (run);
  g_main_loop_run (watch.loop);
  g_source_remove (interval);
  g_clear_handle_id (&watch.interrupted, g_source_remove);
  g_clear_handle_id (&watch.terminated, g_source_remove);
  g_clear_handle_id (&watch.hung_up, g_source_remove);
  g_clear_handle_id (&watch.requested, g_source_remove);
  g_clear_handle_id (&watch.doubt, g_source_remove);
  g_main_loop_unref (watch.loop);
  show_last (&watch);
  g_free (watch.problem);
}

void
lig_cli_watch_run (LigRun *run)
{
  LigCliCadence cadence = {FALSE, 0, 0};
  watch_run (run, NULL, 0, &cadence);
}

void
lig_cli_watch_sweep (LigRun *run, LigSweep *sweep, int point)
{
  static LigCliCadence cadence;
  watch_run (run, sweep, point, &cadence);
}
