/* SPDX-License-Identifier: MIT */
/* A thread reads and stores the lines of the processes; the caller polls them like a LigRun.
 * Commands are sent through a socket; closing it stops the training run. */
#include "ui/session/child-run.h"

#include "ui/session/child-lines.h"
#include <ligature/device.h>
#include <ligature/error.h>
#include <ligature/json.h>
#include <ligature/sequence.h>

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct _LigChildRun {
  GObject parent_instance;
  GSubprocess *process;
  int commands; /* a socket */
  int errors;   /* an in-memory file with the processes' standard error */
  void (*measuring) (gpointer data, const char *what); /* until it has begun */
  gpointer data;

  GMutex lock; /* guards all fields below */
  GCond changed;
  gboolean begun, finished, ended; /* `finished`: the last line was read */
  /* Constant once it has started. */
  char *uuid, *name, *device, *dataset, *checkpoint, **remarks;
  LigRunSettings settings;
  double samples;
  int ranks;

  LigRunProgress progress;
  char *problem;
  GError *error;
  /* A ring buffer, and the total numbers written and taken. */
  LigRunMetric *metrics;
  guint64 in, out;
};

G_DEFINE_FINAL_TYPE (LigChildRun, lig_child_run, G_TYPE_OBJECT)

static guint ended_signal;

/* The thread holds a reference, so it has ended. */
static void
lig_child_run_finalize (GObject *object)
{
  LigChildRun *self = LIG_CHILD_RUN (object);
  g_clear_object (&self->process);
  if (self->commands >= 0)
    close (self->commands);
  if (self->errors >= 0)
    close (self->errors);
  lig_run_settings_clear (&self->settings);
  g_clear_error (&self->error);
  g_free (self->uuid);
  g_free (self->name);
  g_free (self->device);
  g_free (self->dataset);
  g_strfreev (self->remarks);
  g_free (self->checkpoint);
  g_free (self->problem);
  g_free (self->metrics);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (lig_child_run_parent_class)->finalize (object);
}

static void
lig_child_run_class_init (LigChildRunClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_child_run_finalize;
  ended_signal = g_signal_new ("ended", LIG_TYPE_CHILD_RUN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                               G_TYPE_NONE, 0);
}

static void
lig_child_run_init (LigChildRun *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  lig_run_settings_init (&self->settings);
  self->commands = self->errors = -1;
  self->metrics = g_new (LigRunMetric, LIG_RUN_METRICS);
}

/* --- The end ------------------------------------------------------------------------------- */

static gboolean
emit_ended (gpointer self)
{
  g_signal_emit (self, ended_signal, 0);
  return G_SOURCE_REMOVE;
}

/* Takes the last line: the error, null for none. The caller holds the lock. */
static void
finish (LigChildRun *self, GError *error)
{
  self->finished = TRUE;
  self->error = error;
}

/* The processes have ended. The caller holds the lock. */
static void
end (LigChildRun *self)
{
  self->ended = TRUE;
  if (self->error)
    self->progress.status = LIG_RUN_FAILED;
  self->progress.left = 0;
  g_cond_broadcast (&self->changed);
  g_idle_add_full (G_PRIORITY_DEFAULT, emit_ended, g_object_ref (self), g_object_unref);
}

char *
lig_child_run_find_reason (char *said)
{
  const char *line = strrchr (g_strchomp (said), '\n');
  line = line ? line + 1 : said;
  line = g_str_has_prefix (line, "lig: ") ? line + strlen ("lig: ") : line;
  return *line ? g_utf8_make_valid (line, -1)
               : g_strdup (_ ("the training process ended without a reason"));
}

/* Returns the last message of the processes. */
static char *
read_errors (LigChildRun *self)
{
  char text[4096];
  off_t size = lseek (self->errors, 0, SEEK_END);
  off_t from = MAX (size - (off_t) sizeof text + 1, 0);
  gssize length = pread (self->errors, text, sizeof text - 1, from);
  text[MAX (length, 0)] = '\0';
  return lig_child_run_find_reason (text);
}

/* Returns the reason why the processes ended without a last line; they may have printed it. */
static GError *
find_error (LigChildRun *self)
{
  g_autofree char *said = read_errors (self);
  int number =
    g_subprocess_get_if_signaled (self->process) ? g_subprocess_get_term_sig (self->process) : 0;
  if (number == SIGKILL)
    return g_error_new (LIG_ERROR, LIG_ERROR_MEMORY,
                        _ ("the training process was killed; the system does this if memory is "
                           "short"));
  if (number > 0)
    return g_error_new (LIG_ERROR, LIG_ERROR_DEVICE,
                        _ ("the training process was ended by signal %d (%s): %s"), number,
                        g_strsignal (number), said);
  return g_error_new_literal (LIG_ERROR, LIG_ERROR_RANKS, said);
}

/* The processes have ended. */
static void
conclude (LigChildRun *self)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  if (!self->finished)
    finish (self, find_error (self));
  end (self);
}

/* --- Lines --------------------------------------------------------------------------------- */

static char **
read_remarks (JsonObject *object)
{
  g_autoptr (GStrvBuilder) remarks = g_strv_builder_new ();
  JsonNode *node = json_object_get_member (object, "remarks");
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  for (guint i = 0; array && i < json_array_get_length (array); i++)
    g_strv_builder_add (remarks, json_array_get_string_element (array, i));
  return g_strv_builder_end (remarks);
}

static void
take_training (LigChildRun *self, JsonObject *object)
{
  JsonNode *settings = json_object_get_member (object, "settings");
  g_autoptr (GString) text = g_string_new (NULL);
  if (self->begun)
    return;
  if (settings)
    lig_json_append (text, settings);
  lig_run_settings_read_record (&self->settings, text->str, NULL);
  self->uuid = g_strdup (lig_json_get_string (object, "run", NULL));
  self->name = g_strdup (lig_json_get_string (object, "name", ""));
  self->device = g_strdup (lig_json_get_string (object, "device", "cpu"));
  self->dataset = g_strdup (lig_json_get_string (object, "data", NULL));
  self->remarks = read_remarks (object);
  self->checkpoint = g_strdup (lig_json_get_string (object, "checkpoint", NULL));
  self->samples = (double) lig_json_get_int (object, "samples", 1);
  self->ranks = (int) lig_json_get_int (object, "ranks", 1);
  self->progress.steps = self->settings.steps;
  self->progress.first_step = self->progress.step = lig_json_get_int (object, "first_step", 0);
  self->begun = TRUE;
  g_cond_broadcast (&self->changed);
}

static void
take_metrics (LigChildRun *self, JsonObject *object)
{
  LigRunMetric metrics[LIG_CHILD_METRICS];
  guint count = lig_child_line_get_metrics (object, metrics);
  for (guint i = 0; i < count; i++)
    self->metrics[self->in++ % LIG_RUN_METRICS] = metrics[i];
}

static void
take_measuring (LigChildRun *self, JsonObject *object)
{
  g_autofree char *what = lig_child_line_get_measuring (object);
  if (self->measuring && !self->begun)
    self->measuring (self->data, what);
}

static void
take_line (LigChildRun *self, JsonNode *root)
{
  JsonObject *object;
  LigChildLine kind = lig_child_line_read (root, &object);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  if (self->finished)
    return;
  if (kind == LIG_CHILD_LINE_MEASURING)
    take_measuring (self, object);
  else if (kind == LIG_CHILD_LINE_TRAINING)
    take_training (self, object);
  else if (kind == LIG_CHILD_LINE_METRICS)
    take_metrics (self, object);
  else if (kind == LIG_CHILD_LINE_RESULT)
    finish (self, NULL);
  else if (kind == LIG_CHILD_LINE_ERROR)
    finish (self, lig_child_line_get_error (object));
  else if (kind == LIG_CHILD_LINE_PROGRESS) {
    g_free (self->problem);
    lig_child_line_get_progress (object, &self->progress, &self->problem);
  }
}

/* The thread. A line that is not JSON is not a line of the training run. */
static gpointer
read_lines (gpointer data)
{
  g_autoptr (LigChildRun) self = data;
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GDataInputStream) lines =
    g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->process));
  g_buffered_input_stream_set_buffer_size (G_BUFFERED_INPUT_STREAM (lines), 65536);
  for (;;) {
    g_autofree char *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
    if (!line)
      break;
    if (json_parser_load_from_data (parser, line, -1, NULL))
      take_line (self, json_parser_get_root (parser));
  }
  g_subprocess_wait (self->process, NULL, NULL);
  conclude (self);
  return NULL;
}

/* --- Starting ------------------------------------------------------------------------------ */

char *
lig_child_run_find_program (void)
{
  const char *given = g_getenv ("LIG");
  g_autofree char *own = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = own ? g_path_get_dirname (own) : NULL;
  g_autofree char *beside = folder ? g_build_filename (folder, "lig", NULL) : NULL;
  if (given && *given)
    return g_strdup (given);
  if (beside && g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
    return g_steal_pointer (&beside);
  return g_find_program_in_path ("lig");
}

LigLayout
lig_child_run_read_layout (const char *parallel, int ranks)
{
  LigLayout layout;
  if (!lig_layout_parse (&layout, parallel, ranks, NULL))
    lig_layout_init (&layout, 1);
  return layout;
}

GStrv
lig_child_run_make_words (const char *program, const LigChildOrder *order, const char *file)
{
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_autofree char *ranks = g_strdup_printf ("%d", lig_layout_size (&order->layout, LIG_GROUP_ALL));
  g_autofree char *parallel = lig_layout_to_string (&order->layout);
  if (order->repeated) {
    g_strv_builder_add_many (words, program, "runs", "repeat", order->repeated, "--control",
                             "--quiet", "--store", order->store, NULL);
    return g_strv_builder_end (words);
  }
  g_strv_builder_add_many (words, program, "train", "--control", "--quiet", "--ranks", ranks, NULL);
  if (!lig_layout_is_default (&order->layout))
    g_strv_builder_add_many (words, "--parallel", parallel, NULL);
  if (order->store)
    g_strv_builder_add_many (words, "--store", order->store, NULL);
  else
    g_strv_builder_add (words, "--no-store");
  if (order->checkpoint) {
    g_strv_builder_add_many (words, "--resume", order->checkpoint, NULL);
    return g_strv_builder_end (words);
  }
  g_strv_builder_add_many (words, "--device", order->device, NULL);
  if (order->init)
    g_strv_builder_add_many (words, "--init", order->init, NULL);
  /* A file may only name paths in its own folder. */
  if (order->settings->checkpoint)
    g_strv_builder_add_many (words, "--checkpoint", order->settings->checkpoint, NULL);
  g_strv_builder_add (words, file);
  return g_strv_builder_end (words);
}

/* Writes the sequence with the settings into a new file. */
static char *
write_sequence (const LigChildOrder *order, GError **error)
{
  g_autoptr (LigSequence) sequence = lig_sequence_copy (order->sequence);
  LigRunSettings settings = *order->settings;
  settings.checkpoint = NULL;
  g_autofree char *train = lig_run_settings_to_json (&settings);
  lig_sequence_set_train (sequence, train);
  g_autofree char *text = lig_sequence_to_json (sequence);
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("ligature-XXXXXX.lig", &path, error);
  if (file < 0)
    return NULL;
  close (file);
  if (g_file_set_contents (path, text, -1, error))
    return g_steal_pointer (&path);
  g_unlink (path);
  return NULL;
}

/* In the child: lowers the priority, so that the window on the same CPUs stays responsive. */
static void
lower_priority (gpointer unused)
{
  setpriority (PRIO_PROCESS, 0, 5);
}

static gboolean
start (LigChildRun *self, const char *const *words, GError **error)
{
  int ends[2] = {-1, -1};
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  self->errors = memfd_create ("errors", MFD_CLOEXEC);
  if (self->errors < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_MEMORY, g_strerror (errno));
    return FALSE;
  }
  self->commands = ends[0];
  g_subprocess_launcher_take_stdin_fd (launcher, ends[1]);
  g_subprocess_launcher_take_stderr_fd (launcher, dup (self->errors));
  g_subprocess_launcher_set_child_setup (launcher, lower_priority, NULL, NULL);
  self->process = g_subprocess_launcher_spawnv (launcher, words, error);
  if (!self->process)
    return FALSE;
  g_thread_unref (g_thread_new ("training", read_lines, g_object_ref (self)));
  return TRUE;
}

static gboolean
wait_until_begun (LigChildRun *self, GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  while (!self->begun && !self->ended)
    g_cond_wait (&self->changed, &self->lock);
  self->measuring = NULL;
  if (!self->begun && self->error)
    g_propagate_error (error, g_error_copy (self->error));
  return self->begun;
}

LigChildRun *
lig_child_run_new (const LigChildOrder *order, GError **error)
{
  g_autoptr (LigChildRun) self = g_object_new (LIG_TYPE_CHILD_RUN, NULL);
  g_autofree char *program = lig_child_run_find_program ();
  gboolean written = !order->checkpoint && !order->repeated;
  if (!program) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FILE,
                         _ ("the program lig, which trains, is not installed"));
    return NULL;
  }
  self->measuring = order->measuring;
  self->data = order->data;
  g_autofree char *file = written ? write_sequence (order, error) : NULL;
  if (!file && written)
    return NULL;
  g_auto (GStrv) words = lig_child_run_make_words (program, order, file);
  gboolean begun =
    start (self, (const char *const *) words, error) && wait_until_begun (self, error);
  if (file)
    g_unlink (file);
  return begun ? g_steal_pointer (&self) : NULL;
}

/* --- As of a run --------------------------------------------------------------------------- */

guint
lig_child_run_take_metrics (LigChildRun *self, LigRunMetric *to, guint max)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  if (self->in - self->out > LIG_RUN_METRICS)
    self->out = self->in - LIG_RUN_METRICS;
  guint count = (guint) MIN (self->in - self->out, max);
  for (guint i = 0; i < count; i++)
    to[i] = self->metrics[(self->out + i) % LIG_RUN_METRICS];
  self->out += count;
  return count;
}

void
lig_child_run_get_progress (LigChildRun *self, LigRunProgress *progress)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  *progress = self->progress;
}

char *
lig_child_run_dup_problem (LigChildRun *self)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  return g_strdup (self->problem);
}

gboolean
lig_child_run_check (LigChildRun *self, GError **error)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  if (self->error)
    g_propagate_error (error, g_error_copy (self->error));
  return !self->error;
}

void
lig_child_run_command (LigChildRun *self, LigChildCommand command)
{
  static const char *const lines[] = {
    [LIG_CHILD_PAUSE] = "pause\n", [LIG_CHILD_CONTINUE] = "continue\n", [LIG_CHILD_SAVE] = "save\n",
    [LIG_CHILD_STOP] = "stop\n",   [LIG_CHILD_CANCEL] = "cancel\n",
  };
  if (send (self->commands, lines[command], strlen (lines[command]), MSG_NOSIGNAL) < 0)
    g_debug ("training: %s: %s", lines[command], g_strerror (errno));
}

const char *
lig_child_run_get_uuid (LigChildRun *self)
{
  return self->uuid;
}

const char *
lig_child_run_get_checkpoint (LigChildRun *self)
{
  return self->checkpoint;
}

const char *
lig_child_run_describe_data (LigChildRun *self)
{
  return self->dataset;
}

const char *const *
lig_child_run_get_remarks (LigChildRun *self)
{
  return (const char *const *) self->remarks;
}

const LigRunSettings *
lig_child_run_get_settings (LigChildRun *self)
{
  return &self->settings;
}

const char *
lig_child_run_get_device (LigChildRun *self)
{
  return self->device;
}

const char *
lig_child_run_get_name (LigChildRun *self)
{
  return self->name;
}

double
lig_child_run_get_samples (LigChildRun *self)
{
  return self->samples;
}

int
lig_child_run_get_ranks (LigChildRun *self)
{
  return self->ranks;
}
