/* SPDX-License-Identifier: MIT */
/* Profiling on a thread. */
#include "ui/profile/profiling.h"

#include "ui/session/task.h"

#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>
#include <ligature/tuning.h>

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

struct _LigProfiling {
  GObject parent_instance;
  LigDocument *document; /* owns this */
  GPtrArray *results;    /* of LigProfiled */
  guint shown;
  char *text, *device; /* of the results: describe() and the device's name */
  gboolean stale;
  GCancellable *cancellable; /* while active */
  char *error;
  guint tick;

  /* Set by the thread. */
  gint round, rounds;

  gint first;   /* the number of the round at @began */
  gint64 began; /* when a first round ended, monotonic */
};

G_DEFINE_FINAL_TYPE (LigProfiling, lig_profiling, G_TYPE_OBJECT)

enum { CHANGED, PROFILED, N_SIGNALS };
static guint signals[N_SIGNALS];

typedef struct {
  LigSequence *sequence;
  char *text, *device;
  LigPlanOptions options[4];
  guint count, rounds;
  LigStore *store;
  LigOptimizer optimizer;
  LigTuning tuning;
} Job;

static void
free_job (gpointer data)
{
  Job *job = data;
  g_object_unref (job->sequence);
  g_clear_object (&job->store);
  g_free (job->text);
  g_free (job->device);
  g_free (job);
}

static void
free_profiled (gpointer data)
{
  LigProfiled *profiled = data;
  g_clear_pointer (&profiled->plan, lig_plan_unref);
  g_free (profiled->steps);
  g_free (profiled->run);
  g_free (profiled);
}

/* --- On the thread -------------------------------------------------------------------------- */

static gboolean
watch (guint round, guint rounds, gpointer data)
{
  GTask *task = data;
  LigProfiling *self = g_task_get_source_object (task);
  g_atomic_int_set (&self->rounds, (gint) rounds);
  g_atomic_int_set (&self->round, (gint) round + 1);
  return !g_cancellable_is_cancelled (g_task_get_cancellable (task));
}

/* Compiles the same plan without memory: the measured one keeps its arena until it is freed. */
static LigProfiled *
keep (const Job *job, LigProfile *profile, const LigPlanOptions *options, GError **error)
{
  guint count, n_steps;
  g_autofree char *choices = lig_plan_get_choices (profile->plan);
  LigPlanOptions same = *options;
  same.choices = choices;
  lig_plan_get_steps (profile->plan, &count);
  LigPlan *plan =
    lig_plan_compile (job->sequence, lig_plan_get_device (profile->plan), &same, error);
  if (!plan)
    return NULL;
  lig_plan_get_steps (plan, &n_steps);
  g_return_val_if_fail (n_steps == count, NULL);
  LigProfiled *profiled = g_new0 (LigProfiled, 1);
  profiled->plan = plan;
  profiled->steps = g_steal_pointer (&profile->steps);
  profiled->forward = profile->forward;
  profiled->backward = profile->backward;
  profiled->update = profile->update;
  profiled->step = profile->step;
  profiled->passes[LIG_PASS_FORWARD] = profile->forward;
  profiled->passes[LIG_PASS_BACKWARD] = profile->backward;
  profiled->passes[LIG_PASS_UPDATE] = profile->update;
  profiled->spreads[0] = profile->forward_spread;
  profiled->spreads[1] = profile->backward_spread;
  profiled->spreads[2] = profile->update_spread;
  profiled->spreads[3] = profile->step_spread;
  profiled->conditions = profile->conditions;
  profiled->health = profile->health;
  profiled->run = g_steal_pointer (&profile->run);
  return profiled;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (free_profiled);
  g_autoptr (GPtrArray) profiles = NULL;
  g_autoptr (LigDevice) device = lig_device_open (job->device, &error);
  if (device) {
    if (job->store)
      lig_tuning_learn (device, job->store);
    profiles = lig_profile_measure_watched (job->sequence, device, job->options, job->count,
                                            job->rounds, job->store, watch, task, &error);
  }
  for (guint i = 0; profiles && i < profiles->len && !error; i++) {
    LigProfiled *profiled = keep (job, profiles->pdata[i], &job->options[i], &error);
    if (profiled)
      g_ptr_array_add (results, profiled);
  }
  if (error)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, g_steal_pointer (&results), (GDestroyNotify) g_ptr_array_unref);
}

/* --- On the main thread ---------------------------------------------------------------------- */

static gboolean
tick (gpointer data)
{
  g_signal_emit (data, signals[CHANGED], 0);
  return G_SOURCE_CONTINUE;
}

/* Returns a text of all that the plan of a document depends on: its settings for training and its
 * name change no step. */
static char *
describe (LigDocument *document)
{
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_document_get_sequence (document));
  lig_sequence_set_train (sequence, NULL);
  lig_sequence_set_name (sequence, NULL);
  return lig_sequence_to_json (sequence);
}

static void
check_stale (LigProfiling *self)
{
  if (!self->results)
    return;
  g_autofree char *text = describe (self->document);
  gboolean stale = g_strcmp0 (text, self->text) != 0 ||
                   g_strcmp0 (lig_document_get_device (self->document), self->device) != 0;
  if (stale == self->stale)
    return;
  self->stale = stale;
  g_signal_emit (self, signals[CHANGED], 0);
}

/* Chooses the plan of the document's policy, else the fastest. */
static guint
find_wanted (LigProfiling *self)
{
  LigPlan *plan = lig_document_get_plan (self->document);
  guint best = 0;
  for (guint i = 0; i < self->results->len; i++) {
    const LigProfiled *profiled = self->results->pdata[i], *other = self->results->pdata[best];
    if (plan && lig_plan_get_policy (profiled->plan) == lig_plan_get_policy (plan))
      return i;
    if (profiled->step < other->step)
      best = i;
  }
  return best;
}

static void
take_results (GObject *source, GAsyncResult *result, gpointer data)
{
  LigProfiling *self = LIG_PROFILING (source);
  g_autoptr (GError) error = NULL;
  Job *job = g_task_get_task_data (G_TASK (result));
  GPtrArray *results = g_task_propagate_pointer (G_TASK (result), &error);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_object (&self->cancellable);
  if (results && self->document) {
    g_clear_pointer (&self->results, g_ptr_array_unref);
    g_free (self->text);
    g_free (self->device);
    self->results = results;
    self->text = g_steal_pointer (&job->text);
    self->device = g_steal_pointer (&job->device);
    self->shown = find_wanted (self);
    self->stale = FALSE;
    check_stale (self);
    g_signal_emit (self, signals[PROFILED], 0);
  } else if (results) {
    g_ptr_array_unref (results);
  } else if (!g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED)) {
    self->error = g_strdup (error->message);
  }
  g_signal_emit (self, signals[CHANGED], 0);
}

/* Returns why it cannot be profiled, or null. */
static const char *
find_refusal (LigProfiling *self)
{
  const LigProblem *problem = lig_document_get_problem (self->document, 0);
  if (self->cancellable)
    return _ ("this sequence is being profiled already");
  if (lig_sequence_get_length (lig_document_get_sequence (self->document)) == 0)
    return _ ("there is nothing to profile: the sequence has no operations");
  if (lig_device_name_has (lig_document_get_device (self->document), LIG_DEVICE_DESCRIBED))
    return _ ("this device is only planned for: nothing can be measured on it");
  return problem && !lig_document_is_stale (self->document) ? problem->text : NULL;
}

static Job *
new_job (LigProfiling *self, const LigPolicy *policies, guint count, guint rounds)
{
  Job *job = g_new0 (Job, 1);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigStore *store = lig_session_get_store (lig_document_get_session (self->document));
  job->sequence = lig_sequence_copy (lig_document_get_sequence (self->document));
  job->text = describe (self->document);
  job->device = g_strdup (lig_document_get_device (self->document));
  job->store = store ? g_object_ref (store) : NULL;
  job->optimizer = optimizer;
  job->count = MIN (count, G_N_ELEMENTS (job->options));
  job->rounds = rounds;
  lig_tuning_init (&job->tuning, job->store);
  for (guint i = 0; i < job->count; i++) {
    lig_document_get_options (self->document, &job->options[i]);
    job->options[i].policy = policies[i];
    job->options[i].optimizer = &job->optimizer;
    job->options[i].tuning = &job->tuning;
    job->options[i].choices = NULL;
  }
  return job;
}

gboolean
lig_profiling_start (
  LigProfiling *self, const LigPolicy *policies, guint count, guint rounds, GError **error)
{
  const char *refusal = find_refusal (self);
  if (refusal) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE, refusal);
    return FALSE;
  }
  Job *job = new_job (self, policies, count, rounds);
  g_clear_pointer (&self->error, g_free);
  g_atomic_int_set (&self->round, 0);
  self->began = 0;
  self->cancellable = g_cancellable_new ();
  g_autoptr (GTask) task = g_task_new (self, self->cancellable, take_results, NULL);
  /* Complete results count, even if it was cancelled afterwards. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, job, free_job);
  self->tick = g_timeout_add (100, tick, self);
  lig_task_run (task, work);
  g_signal_emit (self, signals[CHANGED], 0);
  return TRUE;
}

void
lig_profiling_cancel (LigProfiling *self)
{
  if (!self->cancellable)
    return;
  g_cancellable_cancel (self->cancellable);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lig_profiling_is_active (LigProfiling *self)
{
  return self->cancellable != NULL;
}

gboolean
lig_profiling_is_cancelled (LigProfiling *self)
{
  return self->cancellable && g_cancellable_is_cancelled (self->cancellable);
}

double
lig_profiling_get_progress (LigProfiling *self, double *left)
{
  gint round = g_atomic_int_get (&self->round), rounds = g_atomic_int_get (&self->rounds);
  gint64 now = g_get_monotonic_time ();
  *left = NAN;
  /* The first round is slower than the others: it chooses algorithms and touches memory. */
  if (round < 2)
    return -1;
  if (self->began == 0) {
    self->began = now;
    self->first = round;
  }
  if (round > self->first)
    *left = (double) (now - self->began) * 1e-6 / (round - self->first) * (rounds - round + 1);
  return (double) (round - 1) / MAX (rounds, 1);
}

const char *
lig_profiling_get_error (LigProfiling *self)
{
  return self->error;
}

const LigProfiled *
lig_profiling_get (LigProfiling *self, guint n)
{
  return self->results && n < self->results->len ? self->results->pdata[n] : NULL;
}

const LigProfiled *
lig_profiling_get_shown (LigProfiling *self)
{
  return lig_profiling_get (self, self->shown);
}

void
lig_profiling_show (LigProfiling *self, guint n)
{
  if (n == self->shown || !lig_profiling_get (self, n))
    return;
  self->shown = n;
  g_signal_emit (self, signals[PROFILED], 0);
  g_signal_emit (self, signals[CHANGED], 0);
}

void
lig_profiling_clear (LigProfiling *self)
{
  g_clear_pointer (&self->results, g_ptr_array_unref);
  g_clear_pointer (&self->error, g_free);
  self->stale = FALSE;
  g_signal_emit (self, signals[PROFILED], 0);
  g_signal_emit (self, signals[CHANGED], 0);
}

gboolean
lig_profiling_is_stale (LigProfiling *self)
{
  return self->stale;
}

gboolean
lig_profiling_get_timed (LigProfiling *self, LigTimedPlan *timed)
{
  const LigProfiled *shown = lig_profiling_get_shown (self);
  if (!shown || self->stale)
    return FALSE;
  *timed = (LigTimedPlan){shown->plan, shown->steps, shown->passes};
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_profiling_finalize (GObject *object)
{
  LigProfiling *self = LIG_PROFILING (object);
  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_pointer (&self->results, g_ptr_array_unref);
  g_clear_object (&self->cancellable);
  g_free (self->text);
  g_free (self->device);
  g_free (self->error);
  G_OBJECT_CLASS (lig_profiling_parent_class)->finalize (object);
}

static void
lig_profiling_class_init (LigProfilingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_profiling_finalize;
  signals[CHANGED] = g_signal_new ("changed", LIG_TYPE_PROFILING, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                   NULL, G_TYPE_NONE, 0);
  signals[PROFILED] = g_signal_new ("profiled", LIG_TYPE_PROFILING, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
}

static void
lig_profiling_init (LigProfiling *self)
{
}

/* The document is disposed of: a running measurement is cancelled. */
static void
release (gpointer data)
{
  LigProfiling *self = data;
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_handle_id (&self->tick, g_source_remove);
  self->document = NULL;
  g_object_unref (self);
}

LigProfiling *
lig_profiling_of (LigDocument *document)
{
  LigProfiling *self = g_object_get_data (G_OBJECT (document), "lig-profile");
  if (self)
    return self;
  self = g_object_new (LIG_TYPE_PROFILING, NULL);
  self->document = document;
  g_signal_connect_object (document, "changed", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "settings", G_CALLBACK (check_stale), self, G_CONNECT_SWAPPED);
  g_object_set_data_full (G_OBJECT (document), "lig-profile", self, release);
  return self;
}
