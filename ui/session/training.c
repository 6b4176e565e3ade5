/* SPDX-License-Identifier: MIT */
/* Training runs that the window started. A thread waits until the training process is ready; then a
 * timer reads the run's metrics thirty times a second. */
#include "ui/session/training.h"

#include "ui/session/command.h"
#include "ui/session/task.h"
#include <ligature/device.h>
#include <ligature/sequence.h>
#include <ligature/store-rows.h>

#include <math.h>

/* The timer: the time between two ticks, the number of values read at a time, and the maximum time
 * for reading. */
#define TICK_MS 33
#define BATCH 1024
#define MAX_SECONDS 0.002

enum { CURVE_LOSS, CURVE_EVAL_LOSS, CURVE_ACCURACY, CURVE_RATE, CURVE_NORM, CURVE_SPEED, N_CURVES };

static const char *const curve_names[N_CURVES + 1] = {
  LIG_METRIC_LOSS, LIG_METRIC_EVAL_LOSS, LIG_METRIC_EVAL_ACCURACY,
  "learning-rate", "gradient-norm",      "samples-per-second"};

struct _LigTraining {
  GObject parent_instance;
  LigSession *session; /* weak */
  LigSequence *sequence;
  LigRunSettings settings;
  char *title, *device, *resumed, *command, *measuring, *error, *checkpoint_error;
  char *uuid, *checkpoint; /* of an earlier window's run, which has no process */
  LigError error_code;

  LigChildRun *run; /* null before it is ready */
  LigLayout layout;
  LigRunProgress progress;
  LigCurve *curves[N_CURVES];
  LigTraining *earlier; /* (nullable): the interrupted run that this one continues, until it runs */
  guint timer, ticks;
  gboolean ended;

  /* The last measurement of the rate. */
  gint64 rate_step;
  gint64 rate_time;

  /* Requested before the run existed. */
  gboolean asked[LIG_CHILD_COMMANDS];
};

G_DEFINE_FINAL_TYPE (LigTraining, lig_training, G_TYPE_OBJECT)

enum { PROGRESSED, ENDED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* A run in progress saves itself and ends as interrupted. */
static void
lig_training_finalize (GObject *object)
{
  LigTraining *self = LIG_TRAINING (object);
  g_clear_handle_id (&self->timer, g_source_remove);
  if (!self->ended && self->run)
    lig_child_run_command (self->run, LIG_CHILD_STOP);
  g_clear_object (&self->run);
  g_clear_object (&self->earlier);
  g_clear_weak_pointer (&self->session);
  g_clear_object (&self->sequence);
  lig_run_settings_clear (&self->settings);
  for (int i = 0; i < N_CURVES; i++)
    lig_curve_free (self->curves[i]);
  char *const texts[] = {self->title,     self->device, self->resumed,          self->command,
                         self->measuring, self->error,  self->checkpoint_error, self->uuid,
                         self->checkpoint};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  G_OBJECT_CLASS (lig_training_parent_class)->finalize (object);
}

static void
lig_training_class_init (LigTrainingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_training_finalize;
  signals[PROGRESSED] = g_signal_new ("progressed", LIG_TYPE_TRAINING, G_SIGNAL_RUN_LAST, 0, NULL,
                                      NULL, NULL, G_TYPE_NONE, 0);
  signals[ENDED] = g_signal_new ("ended", LIG_TYPE_TRAINING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 0);
}

static void
lig_training_init (LigTraining *self)
{
  lig_run_settings_init (&self->settings);
  lig_layout_init (&self->layout, 1);
  for (int i = 0; i < N_CURVES; i++)
    self->curves[i] = lig_curve_new ();
  self->progress = (LigRunProgress){.left = NAN,
                                    .loss = NAN,
                                    .first_loss = NAN,
                                    .eval_loss = NAN,
                                    .eval_accuracy = NAN,
                                    .learning_rate = NAN,
                                    .gradient_norm = NAN,
                                    .loss_scale = NAN,
                                    .step_seconds = NAN,
                                    .samples_per_second = NAN,
                                    .rows_per_second = NAN,
                                    .mfu = NAN};
  self->progress.exposed = self->progress.imbalance = NAN;
}

/* --- Metrics ------------------------------------------------------------------------------- */

static void
take_metric (LigTraining *self, const LigRunMetric *metric)
{
  for (int i = 0; i < CURVE_SPEED; i++)
    if (g_str_equal (curve_names[i], metric->name))
      lig_curve_append (self->curves[i], (double) metric->step, metric->value);
}

/* Returns whether all values were read within the time limit. */
static gboolean
take_metrics (LigTraining *self, double max_seconds)
{
  LigRunMetric metrics[BATCH];
  gint64 until = g_get_monotonic_time () + (gint64) (max_seconds * 1e6);
  guint count;
  do {
    count = lig_child_run_take_metrics (self->run, metrics, BATCH);
    for (guint i = 0; i < count; i++)
      take_metric (self, &metrics[i]);
  } while (count == BATCH && g_get_monotonic_time () < until);
  return count < BATCH;
}

/* Returns the samples per second since the last measurement, without pauses. */
static void
take_rate (LigTraining *self)
{
  gint64 now = g_get_monotonic_time (), step = self->progress.step;
  gboolean running = self->progress.status == LIG_RUN_RUNNING;
  if (running && self->rate_time > 0 && step > self->rate_step && now > self->rate_time) {
    double samples = lig_child_run_get_samples (self->run);
    double rate = samples * (double) (step - self->rate_step) / (double) (now - self->rate_time);
    lig_curve_append (self->curves[CURVE_SPEED], (double) step, rate * 1e6);
  } else if (running && self->rate_time > 0)
    return;
  self->rate_time = running ? now : 0;
  self->rate_step = step;
}

static gboolean
tick (gpointer data)
{
  LigTraining *self = data;
  take_metrics (self, MAX_SECONDS);
  if (self->ticks++ % 4 == 0) {
    lig_child_run_get_progress (self->run, &self->progress);
    g_free (self->checkpoint_error);
    self->checkpoint_error = lig_child_run_dup_problem (self->run);
    take_rate (self);
  }
  g_signal_emit (self, signals[PROGRESSED], 0);
  return G_SOURCE_CONTINUE;
}

static void
end (LigTraining *self)
{
  g_autoptr (LigTraining) kept = g_object_ref (self);
  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_pointer (&self->measuring, g_free);
  self->ended = TRUE;
  g_signal_emit (self, signals[PROGRESSED], 0);
  g_signal_emit (self, signals[ENDED], 0);
}

static void
take_error (LigTraining *self, const GError *error)
{
  self->error = g_strdup (error->message);
  if (error->domain == LIG_ERROR)
    self->error_code = (LigError) error->code;
}

static void
take_end (LigTraining *self)
{
  g_autoptr (GError) error = NULL;
  if (!lig_child_run_check (self->run, &error))
    take_error (self, error);
  while (!take_metrics (self, MAX_SECONDS))
    ;
  lig_child_run_get_progress (self->run, &self->progress);
  /* A run that is shorter than a tick also gets one rate. */
  if (lig_curve_get_length (self->curves[CURVE_SPEED]) == 0 &&
      isfinite (self->progress.samples_per_second))
    lig_curve_append (self->curves[CURVE_SPEED], (double) self->progress.step,
                      self->progress.samples_per_second);
  end (self);
}

/* --- Preparing ----------------------------------------------------------------------------- */

typedef struct {
  LigSequence *sequence;
  LigRunSettings settings;
  char *store, *device, *resumed;
  LigLayout layout;
  LigTraining *training; /* (transfer none): only for messages to the main loop */
} Request;

typedef struct {
  LigTraining *training;
  char *what;
} Message;

static void
free_request (gpointer data)
{
  Request *request = data;
  g_clear_object (&request->sequence);
  g_free (request->store);
  lig_run_settings_clear (&request->settings);
  g_free (request->device);
  g_free (request->resumed);
  g_free (request);
}

static gboolean
show_measuring (gpointer data)
{
  Message *message = data;
  LigTraining *self = message->training;
  if (!self->run && !self->ended) {
    g_free (self->measuring);
    self->measuring = g_steal_pointer (&message->what);
    g_signal_emit (self, signals[PROGRESSED], 0);
  }
  return G_SOURCE_REMOVE;
}

static void
free_message (gpointer data)
{
  Message *message = data;
  g_object_unref (message->training);
  g_free (message->what);
  g_free (message);
}

/* The task holds a reference to the training while its thread runs. */
static void
report_measuring (gpointer data, const char *what)
{
  const Request *request = data;
  Message *message = g_new (Message, 1);
  message->training = g_object_ref (request->training);
  message->what = g_strdup (what);
  g_idle_add_full (G_PRIORITY_DEFAULT, show_measuring, message, free_message);
}

static void
prepare (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  const LigChildOrder order = {
    .sequence = request->sequence,
    .settings = &request->settings,
    .checkpoint = request->resumed,
    .device = request->device,
    .store = request->store,
    .layout = request->layout,
    .measuring = report_measuring,
    .data = request,
  };
  LigChildRun *run = lig_child_run_new (&order, &error);
  if (run)
    g_task_return_pointer (task, run, g_object_unref);
  else
    g_task_return_error (task, error);
}

/* Uses the run's settings, because the data may have changed the sequence's input. */
static void
copy_facts (LigTraining *self)
{
  const char *device = lig_child_run_get_device (self->run);
  lig_run_settings_clear (&self->settings);
  lig_run_settings_copy (lig_child_run_get_settings (self->run), &self->settings);
  g_free (self->device);
  self->device = self->session ? lig_session_title_ranks (self->session, device,
                                                          lig_child_run_get_ranks (self->run))
                               : g_strdup (device);
  if (!self->resumed)
    return;
  g_free (self->title);
  self->title = g_strdup (lig_child_run_get_name (self->run));
}

/* Takes the interrupted run of a checkpoint out of the list: its successor shows its curves. */
static LigTraining *
take_interrupted (LigSession *session, const char *checkpoint)
{
  GListStore *all = lig_session_get_trainings (session);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (all)); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (G_LIST_MODEL (all), i);
    if (training->progress.status != LIG_RUN_INTERRUPTED ||
        g_strcmp0 (training->checkpoint, checkpoint) != 0)
      continue;
    g_list_store_remove (all, i);
    return g_steal_pointer (&training);
  }
  return NULL;
}

/* Continues the curves from the checkpoint: steps after it are made again. */
static void
continue_curves (LigTraining *self)
{
  for (int i = 0; self->earlier && i < N_CURVES; i++) {
    guint count;
    const LigCurvePoint *points = lig_curve_get_points (self->earlier->curves[i], &count);
    for (guint k = 0; k < count && points[k].x <= (double) self->progress.first_step; k++)
      lig_curve_append (self->curves[i], points[k].x, points[k].mean);
  }
  g_clear_object (&self->earlier);
}

/* A run that was cancelled during preparation has started, so that the store records it. */
static void
begin (LigTraining *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->asked); i++)
    if (self->asked[i])
      lig_child_run_command (self->run, (LigChildCommand) i);
  g_signal_connect_object (self->run, "ended", G_CALLBACK (take_end), self, G_CONNECT_SWAPPED);
  lig_child_run_get_progress (self->run, &self->progress);
  continue_curves (self);
  self->timer = g_timeout_add (TICK_MS, tick, self);
  g_signal_emit (self, signals[PROGRESSED], 0);
}

static void
take_run (GObject *source, GAsyncResult *result, gpointer data)
{
  LigTraining *self = LIG_TRAINING (source);
  g_autoptr (GError) error = NULL;
  self->run = g_task_propagate_pointer (G_TASK (result), &error);
  g_clear_pointer (&self->measuring, g_free);
  if (self->run) {
    copy_facts (self);
    begin (self);
    return;
  }
  take_error (self, error);
  self->progress.status = LIG_RUN_FAILED;
  end (self);
}

static void
prepare_on_thread (LigTraining *self, LigSession *session)
{
  Request *request = g_new0 (Request, 1);
  request->training = self;
  request->sequence = self->sequence ? lig_sequence_copy (self->sequence) : NULL;
  lig_run_settings_copy (&self->settings, &request->settings);
  request->store = g_strdup (lig_session_get_store_path (session));
  request->device = g_strdup (self->device);
  request->resumed = g_strdup (self->resumed);
  request->layout = self->layout;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_run, NULL);
  g_task_set_task_data (task, request, free_request);
  lig_task_run (task, prepare);
  g_list_store_insert (lig_session_get_trainings (session), 0, self);
}

/* --- Starting ------------------------------------------------------------------------------ */

static LigTraining *
new_training (LigSession *session)
{
  LigTraining *self = g_object_new (LIG_TYPE_TRAINING, NULL);
  g_set_weak_pointer (&self->session, session);
  return self;
}

/* The session's list holds a reference to it. */
LigTraining *
lig_training_start (LigSession *session,
                    LigSequence *sequence,
                    const char *device,
                    LigLayout layout,
                    const LigRunSettings *settings)
{
  g_autoptr (LigTraining) self = new_training (session);
  self->layout = layout;
  self->sequence = lig_sequence_copy (sequence);
  self->device = g_strdup (device);
  lig_run_settings_clear (&self->settings);
  lig_run_settings_copy (settings, &self->settings);
  self->progress.steps = settings->steps;
  const char *name = settings->name ? settings->name : lig_sequence_get_name (sequence);
  self->title = name ? g_strdup (name) : lig_sequence_to_expression (sequence);
  prepare_on_thread (self, session);
  return self;
}

LigTraining *
lig_training_resume (LigSession *session, const char *checkpoint, LigLayout layout)
{
  g_autoptr (LigTraining) self = new_training (session);
  self->layout = layout;
  self->resumed = g_strdup (checkpoint);
  self->earlier = take_interrupted (session, checkpoint);
  self->title = g_path_get_basename (checkpoint);
  self->device = g_strdup ("");
  GString *command = g_string_new ("lig train");
  lig_shell_append_option (command, "resume", checkpoint);
  lig_command_append_ranks (command, &layout);
  lig_command_append_store (command, session);
  self->command = g_string_free (command, FALSE);
  prepare_on_thread (self, session);
  return self;
}

LigTraining *
lig_training_adopt (LigSession *session, LigChildRun *run, LigLayout layout)
{
  g_autoptr (LigTraining) self = new_training (session);
  self->layout = layout;
  self->run = run;
  copy_facts (self);
  self->title = g_strdup (lig_child_run_get_name (run));
  self->progress.steps = self->settings.steps;
  g_list_store_insert (lig_session_get_trainings (session), 0, self);
  begin (self);
  return self;
}

const char *const *
lig_training_get_metrics (void)
{
  return curve_names;
}

LigTraining *
lig_training_recall (LigSession *session, const LigInterrupted *interrupted)
{
  g_autoptr (LigTraining) self = new_training (session);
  const LigRunRow *row = interrupted->row;
  self->ended = TRUE;
  self->uuid = g_strdup (row->uuid);
  self->checkpoint =
    g_strdup (interrupted->checkpoint ? interrupted->checkpoint : interrupted->missing);
  self->title = g_strdup (row->name);
  self->device = g_strdup (lig_session_get_device_title (session, row->device));
  lig_run_settings_clear (&self->settings);
  lig_run_settings_copy (&interrupted->settings, &self->settings);
  self->progress.status = LIG_RUN_INTERRUPTED;
  self->progress.step = MAX (row->last_step, row->saved_step);
  self->progress.steps = self->settings.steps;
  self->progress.first_loss = row->first_loss;
  self->progress.loss = row->last_loss;
  self->progress.eval_loss = row->eval_loss;
  self->progress.eval_accuracy = row->eval_accuracy;
  for (int i = 0; i < N_CURVES; i++) {
    lig_curve_free (self->curves[i]);
    self->curves[i] = lig_curve_ref (g_hash_table_lookup (interrupted->curves, curve_names[i]));
  }
  g_list_store_insert (lig_session_get_trainings (session), 0, self);
  return self;
}

LigTraining *
lig_training_find_active (LigSession *session)
{
  GListModel *all = G_LIST_MODEL (lig_session_get_trainings (session));
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (LigTraining) training = g_list_model_get_item (all, i);
    if (lig_training_is_active (training))
      return training;
  }
  return NULL;
}

/* --- Getting ------------------------------------------------------------------------------- */

void
lig_training_get_progress (LigTraining *self, LigRunProgress *progress)
{
  *progress = self->progress;
}

const char *
lig_training_get_title (LigTraining *self)
{
  return self->title;
}

const char *
lig_training_get_device (LigTraining *self)
{
  return self->device;
}

LigLayout
lig_training_get_layout (LigTraining *self)
{
  return self->layout;
}

const LigRunSettings *
lig_training_get_settings (LigTraining *self)
{
  return &self->settings;
}

const char *
lig_training_get_command (LigTraining *self)
{
  return self->command;
}

void
lig_training_set_command (LigTraining *self, const char *command)
{
  g_free (self->command);
  self->command = g_strdup (command);
}

const char *
lig_training_get_error (LigTraining *self)
{
  return self->error;
}

LigError
lig_training_get_error_code (LigTraining *self)
{
  return self->error_code;
}

const char *
lig_training_get_checkpoint_error (LigTraining *self)
{
  return self->ended ? NULL : self->checkpoint_error;
}

const char *
lig_training_get_measuring (LigTraining *self)
{
  return self->measuring;
}

const char *
lig_training_get_data (LigTraining *self)
{
  return self->run ? lig_child_run_describe_data (self->run) : NULL;
}

const char *const *
lig_training_get_remarks (LigTraining *self)
{
  return self->run ? lig_child_run_get_remarks (self->run) : NULL;
}

const char *
lig_training_get_uuid (LigTraining *self)
{
  return self->run ? lig_child_run_get_uuid (self->run) : self->uuid;
}

const char *
lig_training_get_saved (LigTraining *self)
{
  return !self->ended ? NULL
         : self->run  ? lig_child_run_get_checkpoint (self->run)
                      : self->checkpoint;
}

const char *
lig_training_get_checkpoint (LigTraining *self)
{
  const char *path = lig_training_get_saved (self);
  return path && g_file_test (path, G_FILE_TEST_EXISTS) ? path : NULL;
}

LigCurve *
lig_training_get_curve (LigTraining *self, const char *metric)
{
  for (int i = 0; i < N_CURVES; i++)
    if (g_str_equal (curve_names[i], metric))
      return self->curves[i];
  return NULL;
}

gboolean
lig_training_is_active (LigTraining *self)
{
  return !self->ended;
}

/* --- Control ------------------------------------------------------------------------------- */

static void
command (LigTraining *self, LigChildCommand command)
{
  self->asked[command] = TRUE;
  if (command <= LIG_CHILD_CONTINUE)
    self->asked[LIG_CHILD_CONTINUE - command] = FALSE;
  if (!self->ended && self->run)
    lig_child_run_command (self->run, command);
}

void
lig_training_pause (LigTraining *self)
{
  command (self, LIG_CHILD_PAUSE);
}

void
lig_training_unpause (LigTraining *self)
{
  command (self, LIG_CHILD_CONTINUE);
}

void
lig_training_cancel (LigTraining *self)
{
  command (self, LIG_CHILD_CANCEL);
}

void
lig_training_interrupt (LigTraining *self)
{
  command (self, LIG_CHILD_STOP);
}

void
lig_training_save (LigTraining *self)
{
  command (self, LIG_CHILD_SAVE);
}
