/* SPDX-License-Identifier: MIT */
/* A thread reads the record and starts the training process, whose run then joins the session's
 * runs. That thread also measures profiles, and waits for the processes of several ranks. */
#include "ui/session/repeating.h"

#include "ui/session/repeat-child.h"
#include "ui/session/task.h"

#include <glib/gi18n.h>
#include <inttypes.h>

struct _LigRepeating {
  GObject parent_instance;
  LigSession *session; /* not owned: it keeps this */
  LigStore *store;
  char *path; /* of the store */
  char *origin, *run, *error;
  LigRecording *recording;
  LigTraining *training;
  LigRepetition *result;
  gboolean ended;
  guint ticker;
  GCancellable *stopped;
  int round, rounds; /* atomic: of the thread that profiles */
};

G_DEFINE_FINAL_TYPE (LigRepeating, lig_repeating, G_TYPE_OBJECT)

static guint changed;

static void
lig_repeating_finalize (GObject *object)
{
  LigRepeating *self = LIG_REPEATING (object);
  g_clear_handle_id (&self->ticker, g_source_remove);
  g_clear_object (&self->store);
  g_clear_object (&self->training);
  g_clear_object (&self->stopped);
  g_clear_pointer (&self->recording, lig_recording_free);
  g_clear_pointer (&self->result, lig_repetition_free);
  g_free (self->path);
  g_free (self->origin);
  g_free (self->run);
  g_free (self->error);
  G_OBJECT_CLASS (lig_repeating_parent_class)->finalize (object);
}

static void
lig_repeating_class_init (LigRepeatingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_repeating_finalize;
  changed = g_signal_new ("changed", LIG_TYPE_REPEATING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                          G_TYPE_NONE, 0);
}

static void
lig_repeating_init (LigRepeating *self)
{
  self->stopped = g_cancellable_new ();
}

static void
emit_changed (LigRepeating *self)
{
  g_signal_emit (self, changed, 0);
}

static void
end (LigRepeating *self, const GError *error)
{
  g_clear_handle_id (&self->ticker, g_source_remove);
  self->ended = TRUE;
  if (error)
    self->error = g_strdup (error->message);
  emit_changed (self);
}

/* --- Comparing ----------------------------------------------------------------------------- */

static void
conclude (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  LigRepeating *self = source;
  GError *error = NULL;
  LigRepetition *result = lig_recording_conclude (self->recording, self->store, self->run, &error);
  if (result)
    g_task_return_pointer (task, result, (GDestroyNotify) lig_repetition_free);
  else
    g_task_return_error (task, error);
}

static void
take_result (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigRepeating *self = LIG_REPEATING (source);
  g_autoptr (GError) error = NULL;
  self->result = g_task_propagate_pointer (G_TASK (result), &error);
  end (self, error);
}

static void
compare (LigRepeating *self)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, take_result, NULL);
  lig_task_run (task, conclude);
}

/* --- Repeating ----------------------------------------------------------------------------- */

/* The result of the preparing thread: a run in progress, or a finished one. */
typedef struct {
  LigRecording *recording;
  LigChildRun *training;
  char *run;
} Prepared;

static void
free_prepared (gpointer data)
{
  Prepared *prepared = data;
  lig_recording_free (prepared->recording);
  g_clear_object (&prepared->training);
  g_free (prepared->run);
  g_free (prepared);
}

static gboolean
note_round (guint round, guint rounds, gpointer data)
{
  LigRepeating *self = data;
  g_atomic_int_set (&self->rounds, (int) rounds);
  g_atomic_int_set (&self->round, (int) round);
  return !g_cancellable_is_cancelled (self->stopped);
}

static LigLayout
get_layout (const LigRecording *recording)
{
  return lig_child_run_read_layout (lig_recording_get_layout (recording),
                                    lig_recording_get_ranks (recording));
}

static LigChildRun *
train (LigRepeating *self, const LigRecording *recording, GError **error)
{
  const LigChildOrder order = {
    .repeated = self->origin, .store = self->path, .layout = get_layout (recording)};
  return lig_child_run_new (&order, error);
}

static char *
profile (LigRepeating *self, const LigRecording *recording, GError **error)
{
  if (lig_recording_get_ranks (recording) > 1)
    return lig_repeat_child_run (self->store, self->origin, self->stopped, error);
  g_autoptr (LigDevice) device = lig_device_open (lig_recording_get_device (recording), error);
  return device ? lig_recording_profile (recording, device, self->store, note_round, self, error)
                : NULL;
}

static void
prepare (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  LigRepeating *self = source;
  GError *error = NULL;
  Prepared *prepared = g_new0 (Prepared, 1);
  prepared->recording = lig_recording_read_run (self->store, self->origin, &error);
  if (prepared->recording && lig_recording_is_profile (prepared->recording))
    prepared->run = profile (self, prepared->recording, &error);
  else if (prepared->recording)
    prepared->training = train (self, prepared->recording, &error);
  if (prepared->run || prepared->training) {
    g_task_return_pointer (task, prepared, free_prepared);
    return;
  }
  free_prepared (prepared);
  g_task_return_error (task, error);
}

static void
take_end (LigRepeating *self)
{
  LigRunProgress progress;
  lig_training_get_progress (self->training, &progress);
  if (progress.status == LIG_RUN_DONE || progress.status == LIG_RUN_FAILED) {
    compare (self);
    return;
  }
  g_autoptr (GError) error =
    g_error_new (LIG_ERROR, LIG_ERROR_CANCELLED,
                 _ ("the repetition was stopped at step %" PRId64 " of %" PRId64), progress.step,
                 progress.steps);
  end (self, error);
}

static void
take_prepared (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigRepeating *self = LIG_REPEATING (source);
  g_autoptr (GError) error = NULL;
  Prepared *prepared = g_task_propagate_pointer (G_TASK (result), &error);
  if (!prepared) {
    end (self, error);
    return;
  }
  self->recording = g_steal_pointer (&prepared->recording);
  if (prepared->run) {
    self->run = g_steal_pointer (&prepared->run);
    compare (self);
  } else {
    self->run = g_strdup (lig_child_run_get_uuid (prepared->training));
    self->training = g_object_ref (lig_training_adopt (
      self->session, g_steal_pointer (&prepared->training), get_layout (self->recording)));
    g_signal_connect_object (self->training, "progressed", G_CALLBACK (emit_changed), self,
                             G_CONNECT_SWAPPED);
    g_signal_connect_object (self->training, "ended", G_CALLBACK (take_end), self,
                             G_CONNECT_SWAPPED);
    if (g_cancellable_is_cancelled (self->stopped))
      lig_training_cancel (self->training);
    emit_changed (self);
  }
  free_prepared (prepared);
}

/* The rounds of a profile are counted on its thread. */
static gboolean
tick (gpointer data)
{
  emit_changed (data);
  return G_SOURCE_CONTINUE;
}

static GListStore *
get_all (LigSession *session)
{
  GListStore *all = g_object_get_data (G_OBJECT (session), "repeatings");
  if (!all) {
    all = g_list_store_new (LIG_TYPE_REPEATING);
    g_object_set_data_full (G_OBJECT (session), "repeatings", all, g_object_unref);
  }
  return all;
}

LigRepeating *
lig_repeating_start (LigSession *session, const char *run)
{
  g_autoptr (LigRepeating) self = g_object_new (LIG_TYPE_REPEATING, NULL);
  self->session = session;
  self->store = g_object_ref (lig_session_get_store (session));
  self->path = g_strdup (lig_session_get_store_path (session));
  self->origin = g_strdup (run);
  g_list_store_insert (get_all (session), 0, self);
  g_autoptr (GTask) task = g_task_new (self, NULL, take_prepared, NULL);
  lig_task_run (task, prepare);
  self->ticker = g_timeout_add (200, tick, self);
  return self;
}

LigRepeating *
lig_repeating_find (LigSession *session, const char *run)
{
  GListModel *all = G_LIST_MODEL (get_all (session));
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (LigRepeating) self = g_list_model_get_item (all, i);
    if (g_strcmp0 (self->origin, run) == 0 || g_strcmp0 (self->run, run) == 0)
      return self;
  }
  return NULL;
}

/* --- Getting ------------------------------------------------------------------------------- */

gboolean
lig_repeating_is_active (LigRepeating *self)
{
  return !self->ended;
}

const LigRepetition *
lig_repeating_get_result (LigRepeating *self)
{
  return self->result;
}

const char *
lig_repeating_get_error (LigRepeating *self)
{
  return self->error;
}

const char *
lig_repeating_get_run (LigRepeating *self)
{
  return self->run;
}

double
lig_repeating_get_share (LigRepeating *self)
{
  LigRunProgress progress;
  int rounds = g_atomic_int_get (&self->rounds);
  if (self->ended)
    return 1;
  if (!self->training)
    return rounds > 0 ? g_atomic_int_get (&self->round) / (double) rounds : -1;
  lig_training_get_progress (self->training, &progress);
  return progress.steps > 0 ? (double) progress.step / (double) progress.steps : -1;
}

void
lig_repeating_stop (LigRepeating *self)
{
  g_cancellable_cancel (self->stopped);
  if (self->training && !self->ended)
    lig_training_cancel (self->training);
}
