/* SPDX-License-Identifier: MIT */
/* Writes one JSON object per line: for each step and each evaluation, once all its values are
 * known. */
#include "app/cli/metrics.h"

#include "app/cli/say.h"
#include "app/cli/task.h"
#include <ligature/sequence.h>
#include <ligature/store-rows.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The microseconds between two writes. */
enum { INTERVAL = 50000 };

typedef struct {
  double loss, rate, norm, scale, accuracy;
  gint64 step;
} Values;

/* The file of the current run; only `thread` uses it while it runs. */
static struct {
  char *path; /* (nullable): none is open */
  int file;
  gboolean regular, resumed, failed, closed;
  LigRun *run;
  GThread *thread;
  int ending;                   /* atomic */
  double samples;               /* of one step */
  Values values;                /* of the step or evaluation whose metrics are arriving */
  gint64 step;                  /* the last step that was written */
  gint64 evaluated;             /* the step of the last evaluation that was written, -1 before */
  gint64 missed;                /* the number of steps for which the reader was too slow */
  LigCliMetricsAppender append; /* (nullable) */
} self;

/* Held by the thread while it writes. */
static GMutex writing;

/* --- Existing files ------------------------------------------------------------------------ */

/* Returns the step of a line, -1 if it is not a line of metrics. */
static gint64
read_step (const char *line)
{
  gint64 step;
  return sscanf (line, " { \"step\" : %" G_GINT64_FORMAT, &step) == 1 ? step : -1;
}

/* Finds the end of the lines up to that step, and the last evaluation among them. A line without a
 * newline was being written when its run was killed. Returns FALSE if the first line is not a line
 * of metrics. */
static gboolean
find_end (FILE *file, gint64 last, gint64 *end, gint64 *evaluated)
{
  char *line = NULL;
  size_t space = 0;
  gssize length;
  gboolean fine = TRUE;
  *end = 0;
  *evaluated = -1;
  while ((length = getline (&line, &space, file)) > 0) {
    gint64 step = read_step (line);
    fine = *end > 0 || step >= 0;
    if (!fine || line[length - 1] != '\n' || step > last)
      break;
    if (strstr (line, "\"eval_loss\""))
      *evaluated = step;
    *end += length;
  }
  free (line);
  return fine;
}

/* Rejects a file that does not contain metrics: it was probably named by mistake. */
static gboolean
check_file (const char *path, GError **error)
{
  struct stat info;
  gint64 end, evaluated;
  if (stat (path, &info) != 0 || !S_ISREG (info.st_mode) || info.st_size == 0)
    return TRUE;
  FILE *file = fopen (path, "re");
  gboolean fine = file && find_end (file, 0, &end, &evaluated);
  if (file)
    fclose (file);
  if (!fine)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 "--metrics: '%s' exists and contains no metrics; give another file or delete it",
                 path);
  return fine;
}

/* Opens the file, or returns -1. Opening a named pipe waits for its reader. */
static int
open_file (const char *path)
{
  enum { FLAGS = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY };
  struct stat info;
  if (stat (path, &info) == 0 && S_ISFIFO (info.st_mode)) {
    int probe = open (path, FLAGS | O_NONBLOCK);
    if (probe < 0 && errno == ENXIO)
      lig_cli_say ("--metrics: waiting for a reader of the pipe '%s'", path);
    int file = open (path, FLAGS);
    if (probe >= 0)
      close (probe);
    return file;
  }
  return open (path, FLAGS | O_CREAT, 0666);
}

gboolean
lig_cli_metrics_open (const char *path, gboolean resumed, GError **error)
{
  struct stat info;
  gboolean standard = strcmp (path, "-") == 0;
  if (!standard && !check_file (path, error))
    return FALSE;
  self.file = standard ? STDOUT_FILENO : open_file (path);
  if (self.file < 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "--metrics: '%s' cannot be written: %s", path,
                 g_strerror (errno));
    return FALSE;
  }
  self.path = g_strdup (standard ? "standard output" : path);
  self.resumed = resumed;
  self.regular = !standard && fstat (self.file, &info) == 0 && S_ISREG (info.st_mode);
  return TRUE;
}

/* Removes the lines that the run is about to write again: all of them for a new run, those after
 * the checkpoint for a resumed one. */
static void
cut_file (gint64 first_step)
{
  gint64 end = 0;
  FILE *file = self.resumed ? fopen (self.path, "re") : NULL;
  if (file) {
    find_end (file, first_step, &end, &self.evaluated);
    fclose (file);
  }
  if (ftruncate (self.file, end) == 0)
    return;
  self.failed = TRUE;
  lig_cli_warn ("--metrics: %s: its old lines cannot be removed: %s", self.path,
                g_strerror (errno));
}

/* --- Lines --------------------------------------------------------------------------------- */

/* Forgets the values, because those of another step follow. */
static void
forget (gint64 step)
{
  self.values = (Values){NAN, NAN, NAN, NAN, NAN, step};
}

/* Appends a member with the fewest digits that round-trip, in single precision if `single`; null
 * for a value that is unknown or not finite. */
static void
append (GString *to, const char *key, double value, gboolean single)
{
  char text[32] = "null";
  for (int digits = 4; isfinite (value) && digits <= (single ? 9 : 17); digits++) {
    g_snprintf (text, sizeof text, "%.*g", digits, value);
    double read = g_ascii_strtod (text, NULL);
    if (single ? (float) read == (float) value : read == value)
      break;
  }
  g_string_append_printf (to, ",\"%s\":%s", key, text);
}

static void
append_step (GString *to, gint64 step, double milliseconds)
{
  const Values *values = &self.values;
  /* The beginning of the step was lost. */
  if (isnan (values->loss))
    return;
  self.missed += step - self.step - 1;
  self.step = step;
  g_string_append_printf (to, "{\"step\":%" G_GINT64_FORMAT, step);
  append (to, "loss", values->loss, TRUE);
  append (to, "lr", values->rate, FALSE);
  append (to, "grad_norm", values->norm, TRUE);
  double rate = milliseconds > 0 ? self.samples / milliseconds * 1e3 : NAN;
  g_string_append (to, ",\"samples_per_second\":");
  if (isfinite (rate))
    g_string_append_printf (to, rate < 1e4 ? "%.5g" : "%.0f", rate);
  else
    g_string_append (to, "null");
  if (!isnan (values->scale))
    append (to, "loss_scale", values->scale, TRUE);
  g_string_append (to, "}\n");
}

static void
append_evaluation (GString *to, gint64 step, double loss)
{
  /* A resumed run repeats an evaluation after which no checkpoint was written. */
  if (step <= self.evaluated)
    return;
  self.evaluated = step;
  g_string_append_printf (to, "{\"step\":%" G_GINT64_FORMAT, step);
  append (to, "eval_loss", loss, TRUE);
  append (to, "eval_accuracy", self.values.accuracy, TRUE);
  g_string_append (to, "}\n");
}

/* The duration is the last value to arrive for a step, the loss for an evaluation. */
static void
add (GString *to, const LigRunMetric *metric)
{
  static const struct {
    const char *name;
    gsize offset;
  } kept[] = {
    {LIG_METRIC_LOSS, G_STRUCT_OFFSET (Values, loss)},
    {"learning-rate", G_STRUCT_OFFSET (Values, rate)},
    {"gradient-norm", G_STRUCT_OFFSET (Values, norm)},
    {"loss-scale", G_STRUCT_OFFSET (Values, scale)},
    {LIG_METRIC_EVAL_ACCURACY, G_STRUCT_OFFSET (Values, accuracy)},
  };
  gboolean step = strcmp (metric->name, "step-ms") == 0;
  if (metric->step != self.values.step)
    forget (metric->step);
  if (step)
    append_step (to, metric->step, metric->value);
  else if (strcmp (metric->name, LIG_METRIC_EVAL_LOSS) == 0)
    append_evaluation (to, metric->step, metric->value);
  else
    for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
      if (strcmp (metric->name, kept[i].name) == 0)
        G_STRUCT_MEMBER (double, &self.values, kept[i].offset) = metric->value;
  if (step)
    forget (metric->step);
}

/* --- Writing ------------------------------------------------------------------------------- */

/* Removes the part of a line that a full disk accepted. */
static void
remove_rest (const char *text, gsize written)
{
  gsize whole = written;
  while (whole > 0 && text[whole - 1] != '\n')
    whole--;
  off_t end = self.regular ? lseek (self.file, 0, SEEK_END) : -1;
  if (end >= 0 && ftruncate (self.file, end - (off_t) (written - whole)) != 0)
    lig_cli_warn ("--metrics: the last line of '%s' is incomplete", self.path);
}

/* A closed pipe ends the output silently; any other failure is reported once. The run continues. */
static void
write_all (const GString *text)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&writing);
  gsize done = 0;
  while (done < text->len && !self.failed && !self.closed) {
    gssize written = write (self.file, text->str + done, text->len - done);
    if (written > 0) {
      done += (gsize) written;
    } else if (errno == EPIPE) {
      self.closed = TRUE;
    } else if (errno != EINTR) {
      self.failed = TRUE;
      lig_cli_warn (
        "--metrics: %s cannot be written: %s; the run continues, and the store has its values",
        self.path, g_strerror (errno));
      remove_rest (text->str, done);
    }
  }
}

static void
write_more (GString *text)
{
  if (!self.append)
    return;
  g_string_truncate (text, 0);
  self.append (text, self.run);
  write_all (text);
}

static gpointer
work (gpointer data)
{
  LigRunMetric metrics[1024];
  sigset_t set;
  gboolean ending;
  g_autoptr (GString) text = g_string_new (NULL);
  /* SIGPIPE would end the run. */
  sigemptyset (&set);
  sigaddset (&set, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
  do {
    guint count;
    ending = g_atomic_int_get (&self.ending);
    while ((count = lig_run_take_metrics (self.run, metrics, G_N_ELEMENTS (metrics))) > 0) {
      g_string_truncate (text, 0);
      for (guint i = 0; i < count; i++)
        add (text, &metrics[i]);
      write_all (text);
    }
    write_more (text);
    if (!ending)
      g_usleep (INTERVAL);
  } while (!ending && !self.failed && !self.closed);
  return NULL;
}

void
lig_cli_metrics_add (LigCliMetricsAppender appender)
{
  self.append = appender;
}

void
lig_cli_metrics_follow (LigRun *run)
{
  LigShape shape;
  LigDtype dtype;
  LigRunProgress progress;
  if (!self.path || self.thread)
    return;
  lig_run_get_progress (run, &progress);
  lig_sequence_get_input (lig_run_get_sequence (run), &shape, &dtype);
  self.samples = (double) shape.axes[0] * (double) lig_run_get_settings (run)->accumulate;
  self.step = progress.first_step;
  self.evaluated = -1;
  forget (0);
  self.run = g_object_ref (run);
  if (self.regular)
    cut_file (progress.first_step);
  self.thread = g_thread_new ("metrics", work, NULL);
}

gboolean
lig_cli_metrics_end (void)
{
  if (!self.path)
    return TRUE;
  g_atomic_int_set (&self.ending, 1);
  lig_cli_task_begin ("waiting for the reader of --metrics");
  g_clear_pointer (&self.thread, g_thread_join);
  lig_cli_task_end ();
  if (self.missed > 0)
    lig_cli_warn ("--metrics: %s: the reader was too slow for %" G_GINT64_FORMAT
                  " step%s; the store has all of them",
                  self.path, self.missed, LIG_ENDING (self.missed));
  if (self.file != STDOUT_FILENO && close (self.file) != 0 && !self.failed && errno != EINTR) {
    self.failed = TRUE;
    lig_cli_warn ("--metrics: %s cannot be written: %s", self.path, g_strerror (errno));
  }
  g_clear_pointer (&self.path, g_free);
  g_clear_object (&self.run);
  return !self.failed;
}

gboolean
lig_cli_metrics_stop (void)
{
  enum { TRIES = 100, NAP = 10000 };
  for (int i = 0; i < TRIES; i++) {
    if (g_mutex_trylock (&writing))
      return TRUE;
    g_usleep (NAP);
  }
  return FALSE;
}
