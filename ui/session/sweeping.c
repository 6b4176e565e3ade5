/* SPDX-License-Identifier: MIT */
/* After each result, a thread rereads the sweep and prepares its next run: a sweep object that
 * views hold is never modified. */
#include "ui/session/sweeping.h"

#include "ui/session/sweep-child.h"
#include "ui/session/task.h"

#include <math.h>

struct _LigSweeping {
  GObject parent_instance;
  LigSession *session; /* not owned: it keeps this */
  LigStore *store;
  LigSweep *sweep;
  LigTraining *training;
  GHashTable *failures; /* by the number of the point: the reason why its run could not start */
  int point;
  char *error;
  gboolean paused, stopped, busy, ended;
};

G_DEFINE_FINAL_TYPE (LigSweeping, lig_sweeping, G_TYPE_OBJECT)

static guint changed;

static void
lig_sweeping_finalize (GObject *object)
{
  LigSweeping *self = LIG_SWEEPING (object);
  g_clear_object (&self->store);
  g_clear_object (&self->sweep);
  g_clear_object (&self->training);
  g_hash_table_unref (self->failures);
  g_free (self->error);
  G_OBJECT_CLASS (lig_sweeping_parent_class)->finalize (object);
}

static void
lig_sweeping_class_init (LigSweepingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_sweeping_finalize;
  changed = g_signal_new ("changed", LIG_TYPE_SWEEPING, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                          G_TYPE_NONE, 0);
}

static void
lig_sweeping_init (LigSweeping *self)
{
  self->point = -1;
  self->failures = g_hash_table_new_full (NULL, NULL, NULL, g_free);
}

static void
emit_changed (LigSweeping *self)
{
  g_signal_emit (self, changed, 0);
}

/* --- The next training --------------------------------------------------------------------- */

/* The data of a thread. The run is null at the end, or if preparing it failed. */
typedef struct {
  LigStore *store;
  LigSweep *sweep; /* replaced by one with the newest results */
  GHashTable *failures;
  gboolean only_read;
  int point;
  LigChildRun *run;
  GError *failure;
} Next;

static void
free_next (gpointer data)
{
  Next *next = data;
  g_clear_object (&next->store);
  g_clear_object (&next->sweep);
  g_clear_object (&next->run);
  g_clear_error (&next->failure);
  g_hash_table_unref (next->failures);
  g_free (next);
}

static gboolean
read_sweep (Next *next, GError **error)
{
  GHashTableIter iter;
  gpointer point, message;
  if (!lig_sweep_get_uuid (next->sweep))
    return lig_sweep_begin (next->sweep, next->store, error);
  LigSweep *fresh = lig_sweep_open (next->store, lig_sweep_get_uuid (next->sweep), error);
  if (!fresh)
    return FALSE;
  g_object_unref (next->sweep);
  next->sweep = fresh;
  g_hash_table_iter_init (&iter, next->failures);
  while (g_hash_table_iter_next (&iter, &point, &message))
    lig_sweep_fail (fresh, GPOINTER_TO_UINT (point), message);
  return TRUE;
}

static void
find_next (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Next *next = data;
  GError *error = NULL;
  next->point = -1;
  if (!read_sweep (next, &error)) {
    g_task_return_error (task, error);
    return;
  }
  if (!next->only_read)
    next->point = lig_sweep_next (next->sweep);
  if (next->point >= 0)
    next->run = lig_sweep_child_new (next->sweep, (guint) next->point, next->store, &next->failure);
  g_task_return_boolean (task, TRUE);
}

static void prepare_next (LigSweeping *self);

static void
end (LigSweeping *self)
{
  self->ended = TRUE;
  self->point = -1;
  emit_changed (self);
}

/* A run that ended neither done nor failed was stopped, here or on the Run page. */
static void
take_end (LigSweeping *self)
{
  LigRunProgress progress;
  lig_training_get_progress (self->training, &progress);
  gboolean whole = progress.status == LIG_RUN_DONE || progress.status == LIG_RUN_FAILED;
  GListStore *trainings = lig_session_get_trainings (self->session);
  guint position;
  self->stopped = self->stopped || !whole;
  /* Thousands of runs would bury the others; the results are in the sweep. */
  if (whole && g_list_store_find (trainings, self->training, &position))
    g_list_store_remove (trainings, position);
  g_signal_handlers_disconnect_by_data (self->training, self);
  g_clear_object (&self->training);
  prepare_next (self);
}

static void
begin (LigSweeping *self, LigChildRun *run)
{
  LigLayout layout = lig_sweep_child_get_layout (self->sweep);
  self->training = g_object_ref (lig_training_adopt (self->session, run, layout));
  g_signal_connect_object (self->training, "progressed", G_CALLBACK (emit_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->training, "ended", G_CALLBACK (take_end), self, G_CONNECT_SWAPPED);
  if (self->stopped)
    lig_training_interrupt (self->training);
  else if (self->paused)
    lig_training_pause (self->training);
  emit_changed (self);
}

/* Returns whether the previous point could not start for the same reason, and no run has started:
 * the cause is then in the settings that all points share. */
static gboolean
is_hopeless (LigSweeping *self, const Next *next)
{
  guint count;
  const LigSweepPoint *points = lig_sweep_get_points (next->sweep, &count);
  for (guint i = 0; i < count; i++)
    if (points[i].run)
      return FALSE;
  return next->point > 0 &&
         g_strcmp0 (points[next->point - 1].message, next->failure->message) == 0;
}

static void
take_next (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigSweeping *self = LIG_SWEEPING (source);
  Next *next = g_task_get_task_data (G_TASK (result));
  g_autoptr (GError) error = NULL;
  self->busy = FALSE;
  g_set_object (&self->sweep, next->sweep);
  if (!g_task_propagate_boolean (G_TASK (result), &error)) {
    self->error = g_strdup (error->message);
    end (self);
    return;
  }
  self->point = next->point;
  if (next->run) {
    begin (self, g_steal_pointer (&next->run));
  } else if (next->failure && is_hopeless (self, next)) {
    self->error = g_strdup (next->failure->message);
    end (self);
  } else if (next->failure) {
    g_hash_table_insert (self->failures, GUINT_TO_POINTER ((guint) next->point),
                         g_strdup (next->failure->message));
    prepare_next (self);
  } else {
    end (self);
  }
}

static void
prepare_next (LigSweeping *self)
{
  GHashTableIter iter;
  gpointer point, message;
  if (self->paused && !self->stopped && lig_sweep_get_uuid (self->sweep)) {
    self->point = -1;
    emit_changed (self);
    return;
  }
  Next *next = g_new0 (Next, 1);
  next->store = g_object_ref (self->store);
  next->sweep = g_object_ref (self->sweep);
  next->only_read = self->stopped;
  next->failures = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_hash_table_iter_init (&iter, self->failures);
  while (g_hash_table_iter_next (&iter, &point, &message))
    g_hash_table_insert (next->failures, point, g_strdup (message));
  g_autoptr (GTask) task = g_task_new (self, NULL, take_next, NULL);
  g_task_set_task_data (task, next, free_next);
  self->busy = TRUE;
  lig_task_run (task, find_next);
  emit_changed (self);
}

/* --- Starting ------------------------------------------------------------------------------ */

static GListStore *
get_all (LigSession *session)
{
  GListStore *all = g_object_get_data (G_OBJECT (session), "sweepings");
  if (!all) {
    all = g_list_store_new (LIG_TYPE_SWEEPING);
    g_object_set_data_full (G_OBJECT (session), "sweepings", all, g_object_unref);
  }
  return all;
}

LigSweeping *
lig_sweeping_start (LigSession *session, LigSweep *sweep)
{
  g_autoptr (LigSweeping) self = g_object_new (LIG_TYPE_SWEEPING, NULL);
  self->session = session;
  self->store = g_object_ref (lig_session_get_store (session));
  self->sweep = sweep;
  g_list_store_insert (get_all (session), 0, self);
  prepare_next (self);
  return self;
}

LigSweeping *
lig_sweeping_find (LigSession *session, const char *sweep)
{
  GListModel *all = G_LIST_MODEL (get_all (session));
  for (guint i = 0; i < g_list_model_get_n_items (all); i++) {
    g_autoptr (LigSweeping) self = g_list_model_get_item (all, i);
    if (g_strcmp0 (lig_sweep_get_uuid (self->sweep), sweep) == 0)
      return self;
  }
  return NULL;
}

/* --- Getting and setting ------------------------------------------------------------------- */

LigSweep *
lig_sweeping_get_sweep (LigSweeping *self)
{
  return self->sweep;
}

int
lig_sweeping_get_point (LigSweeping *self)
{
  return self->point;
}

LigTraining *
lig_sweeping_get_training (LigSweeping *self)
{
  return self->training;
}

double
lig_sweeping_get_left (LigSweeping *self)
{
  LigRunProgress progress;
  if (!self->training)
    return lig_sweep_estimate_left (self->sweep, -1, NULL);
  lig_training_get_progress (self->training, &progress);
  return lig_sweep_estimate_left (self->sweep, self->point, &progress);
}

const char *
lig_sweeping_get_error (LigSweeping *self)
{
  return self->error;
}

gboolean
lig_sweeping_is_active (LigSweeping *self)
{
  return !self->ended;
}

gboolean
lig_sweeping_is_paused (LigSweeping *self)
{
  return self->paused && !self->ended;
}

void
lig_sweeping_set_paused (LigSweeping *self, gboolean paused)
{
  if (self->ended || self->paused == paused)
    return;
  self->paused = paused;
  if (self->training)
    (paused ? lig_training_pause : lig_training_unpause) (self->training);
  else if (!paused && !self->busy)
    prepare_next (self);
  emit_changed (self);
}

void
lig_sweeping_stop (LigSweeping *self)
{
  if (self->ended || self->stopped)
    return;
  self->stopped = TRUE;
  if (self->training)
    lig_training_interrupt (self->training);
  else if (!self->busy)
    prepare_next (self);
  emit_changed (self);
}
