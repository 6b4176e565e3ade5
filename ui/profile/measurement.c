/* SPDX-License-Identifier: MIT */
/* Measuring a document on a thread. */
#include "ui/profile/measurement.h"

#include "ui/session/task.h"

#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/tuning.h>

#include <glib/gi18n.h>

typedef struct {
  LigDocument *document; /* owns this */
  gpointer results;
  char *text, *device; /* of the results: describe() and the device's name */
  gboolean stale;
  GCancellable *cancellable; /* while active */
  char *error;
  guint tick;

  /* Set by the thread. */
  gint done, count;
} LigMeasurementPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (LigMeasurement, lig_measurement, G_TYPE_OBJECT)

enum { CHANGED, MEASURED, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  LigMeasurementJob measured;
  LigPlanOptions options[4];
  char *text, *device;
  LigOptimizer optimizer;
  LigTuning tuning;
  gpointer results;
  GDestroyNotify free_results;
} Job;

static LigMeasurementPrivate *
get_private (gpointer self)
{
  return lig_measurement_get_instance_private (self);
}

static void
free_job (gpointer data)
{
  Job *job = data;
  g_object_unref (job->measured.sequence);
  g_clear_object (&job->measured.store);
  g_clear_pointer (&job->results, job->free_results);
  g_free (job->text);
  g_free (job->device);
  g_free (job);
}

/* --- On the thread -------------------------------------------------------------------------- */

gboolean
lig_measurement_watch (guint done, guint count, gpointer measurement)
{
  LigMeasurementPrivate *private = get_private (measurement);
  g_atomic_int_set (&private->count, (gint) count);
  g_atomic_int_set (&private->done, (gint) done);
  return !g_cancellable_is_cancelled (private->cancellable);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open (job->device, &error);
  if (device && job->measured.store)
    lig_tuning_learn (device, job->measured.store);
  if (device && LIG_MEASUREMENT_GET_CLASS (source)->measure (source, &job->measured, device,
                                                             job->results, &error))
    g_task_return_pointer (task, g_steal_pointer (&job->results), job->free_results);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/* --- On the main thread ---------------------------------------------------------------------- */

static gboolean
tick (gpointer data)
{
  g_signal_emit (data, signals[CHANGED], 0);
  return G_SOURCE_CONTINUE;
}

/* Returns a text of everything that results depend on: training settings and the name change no
 * step. */
static char *
describe (LigMeasurement *self, LigDocument *document)
{
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_document_get_sequence (document));
  lig_sequence_set_train (sequence, NULL);
  lig_sequence_set_name (sequence, NULL);
  if (LIG_MEASUREMENT_GET_CLASS (self)->any_recipe)
    lig_sequence_set_recipe (sequence, NULL, NULL);
  return lig_sequence_to_json (sequence);
}

static void
check_stale (LigMeasurement *self)
{
  LigMeasurementPrivate *private = get_private (self);
  if (!private->results)
    return;
  g_autofree char *text = describe (self, private->document);
  const char *device = lig_document_get_device (private->document);
  gboolean stale = g_strcmp0 (text, private->text) != 0 || g_strcmp0 (device, private->device) != 0;
  if (stale == private->stale)
    return;
  private->stale = stale;
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
clear_results (LigMeasurement *self)
{
  g_clear_pointer (&get_private (self)->results, LIG_MEASUREMENT_GET_CLASS (self)->free_results);
}

/* The parts of the job that describe the results become those of the measurement. */
static void
take_results (LigMeasurement *self, gpointer results, Job *job)
{
  LigMeasurementPrivate *private = get_private (self);
  clear_results (self);
  g_free (private->text);
  g_free (private->device);
  private->results = results;
  private->text = g_steal_pointer (&job->text);
  private->device = g_steal_pointer (&job->device);
  if (LIG_MEASUREMENT_GET_CLASS (self)->take)
    LIG_MEASUREMENT_GET_CLASS (self)->take (self);
  private->stale = FALSE;
  check_stale (self);
  g_signal_emit (self, signals[MEASURED], 0);
}

static void
finish (GObject *source, GAsyncResult *result, gpointer data)
{
  LigMeasurement *self = LIG_MEASUREMENT (source);
  LigMeasurementPrivate *private = get_private (self);
  g_autoptr (GError) error = NULL;
  gpointer results = g_task_propagate_pointer (G_TASK (result), &error);
  g_clear_handle_id (&private->tick, g_source_remove);
  g_clear_object (&private->cancellable);
  if (results && private->document)
    take_results (self, results, g_task_get_task_data (G_TASK (result)));
  else if (results)
    LIG_MEASUREMENT_GET_CLASS (self)->free_results (results);
  else if (!g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED))
  private->error = g_strdup (error->message);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* Returns the reason why it cannot be measured, or null. */
static const char *
find_rejection (LigMeasurement *self)
{
  LigMeasurementPrivate *private = get_private (self);
  LigDocument *document = private->document;
  const LigProblem *problem = lig_document_get_problem (document, 0);
  if (private->cancellable)
    return _ (LIG_MEASUREMENT_GET_CLASS (self)->busy);
  if (lig_sequence_get_length (lig_document_get_sequence (document)) == 0)
    return _ (LIG_MEASUREMENT_GET_CLASS (self)->empty);
  if (lig_device_name_has (lig_document_get_device (document), LIG_DEVICE_DESCRIBED))
    return _ ("this device is plan-only: nothing can be measured on it");
  return problem && !lig_document_is_stale (document) ? problem->text : NULL;
}

static Job *
new_job (LigMeasurement *self, const LigPolicy *policies, guint count, guint rounds)
{
  Job *job = g_new0 (Job, 1);
  LigMeasurementJob *measured = &job->measured;
  LigDocument *document = get_private (self)->document;
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigStore *store = lig_session_get_store (lig_document_get_session (document));
  measured->sequence = lig_sequence_copy (lig_document_get_sequence (document));
  measured->store = store ? g_object_ref (store) : NULL;
  measured->count = MIN (count, G_N_ELEMENTS (job->options));
  measured->rounds = rounds;
  measured->options = job->options;
  job->text = describe (self, document);
  job->device = g_strdup (lig_document_get_device (document));
  job->optimizer = optimizer;
  job->free_results = LIG_MEASUREMENT_GET_CLASS (self)->free_results;
  lig_tuning_init (&job->tuning, measured->store);
  for (guint i = 0; i < measured->count; i++) {
    LigPlanOptions *options = &job->options[i];
    lig_document_get_options (document, options);
    options->policy = policies[i];
    options->optimizer = &job->optimizer;
    options->tuning = &job->tuning;
    options->choices = NULL;
  }
  return job;
}

gboolean
lig_measurement_start (LigMeasurement *self,
                       const LigPolicy *policies,
                       guint count,
                       guint rounds,
                       gpointer results,
                       GError **error)
{
  LigMeasurementPrivate *private = get_private (self);
  const char *rejection = find_rejection (self);
  if (rejection) {
    LIG_MEASUREMENT_GET_CLASS (self)->free_results (results);
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, rejection);
    return FALSE;
  }
  Job *job = new_job (self, policies, count, rounds);
  job->results = results;
  g_clear_pointer (&private->error, g_free);
  g_atomic_int_set (&private->done, 0);
  g_atomic_int_set (&private->count, 0);
  private->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, private->cancellable, finish, NULL);
  /* Complete results are kept, even if the user cancelled afterwards. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, job, free_job);
  private->tick = g_timeout_add (100, tick, self);
  lig_task_run (task, work);
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

void
lig_measurement_cancel (LigMeasurement *self)
{
  if (!lig_measurement_is_active (self))
    return;
  g_cancellable_cancel (get_private (self)->cancellable);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lig_measurement_is_active (LigMeasurement *self)
{
  return get_private (self)->cancellable != NULL;
}

gboolean
lig_measurement_is_cancelled (LigMeasurement *self)
{
  return g_cancellable_is_cancelled (get_private (self)->cancellable);
}

guint
lig_measurement_get_done (LigMeasurement *self, guint *count)
{
  LigMeasurementPrivate *private = get_private (self);
  guint done = (guint) g_atomic_int_get (&private->done);
  *count = (guint) g_atomic_int_get (&private->count);
  return done;
}

const char *
lig_measurement_get_error (LigMeasurement *self)
{
  return get_private (self)->error;
}

LigDocument *
lig_measurement_get_document (LigMeasurement *self)
{
  return get_private (self)->document;
}

gpointer
lig_measurement_get_results (LigMeasurement *self)
{
  return get_private (self)->results;
}

void
lig_measurement_clear (LigMeasurement *self)
{
  LigMeasurementPrivate *private = get_private (self);
  clear_results (self);
  g_clear_pointer (&private->error, g_free);
  private->stale = FALSE;
  lig_measurement_announce (self);
}

gboolean
lig_measurement_is_stale (LigMeasurement *self)
{
  return get_private (self)->stale;
}

void
lig_measurement_announce (LigMeasurement *self)
{
  g_signal_emit (self, signals[MEASURED], 0);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_measurement_finalize (GObject *object)
{
  LigMeasurementPrivate *private = get_private (object);
  g_clear_handle_id (&private->tick, g_source_remove);
  clear_results (LIG_MEASUREMENT (object));
  g_clear_object (&private->cancellable);
  g_free (private->text);
  g_free (private->device);
  g_free (private->error);
  G_OBJECT_CLASS (lig_measurement_parent_class)->finalize (object);
}

static void
lig_measurement_class_init (LigMeasurementClass *class)
{
  static const char *const names[N_SIGNALS] = {"changed", "measured"};
  G_OBJECT_CLASS (class)->finalize = lig_measurement_finalize;
  for (guint i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], LIG_TYPE_MEASUREMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 0);
}

static void
lig_measurement_init (LigMeasurement *self)
{
}

/* The document is disposed of: a running measurement is cancelled. */
static void
release (gpointer data)
{
  LigMeasurementPrivate *private = get_private (data);
  g_cancellable_cancel (private->cancellable);
  g_clear_handle_id (&private->tick, g_source_remove);
  private->document = NULL;
  g_object_unref (data);
}

gpointer
lig_measurement_of (LigDocument *document, GType type)
{
  LigMeasurement *self = g_object_get_data (G_OBJECT (document), g_type_name (type));
  if (self)
    return self;
  self = g_object_new (type, NULL);
  get_private (self)->document = document;
  g_signal_connect_object (document, "changed", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "settings", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_object_set_data_full (G_OBJECT (document), g_type_name (type), self, release);
  return self;
}
