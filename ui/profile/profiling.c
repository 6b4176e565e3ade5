/* SPDX-License-Identifier: MIT */
/* Profiling on a thread. */
#include "ui/profile/profiling.h"

#include <ligature/compile.h>
#include <ligature/plan-loads.h>
#include <ligature/profile.h>

#include <glib/gi18n.h>
#include <math.h>

/* The results are an array of LigProfiled. */
struct _LigProfiling {
  LigMeasurement parent_instance;
  char *load;     /* of the next profile; null: even */
  char *measured; /* of the one in progress */
  guint shown;
  guint first;  /* the number of the round at @began */
  gint64 began; /* when a first round ended, monotonic */
};

G_DEFINE_FINAL_TYPE (LigProfiling, lig_profiling, LIG_TYPE_MEASUREMENT)

void
lig_profiled_free (LigProfiled *self)
{
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_free (self->steps);
  g_free (self->run);
  g_free (self->load);
  g_free (self);
}

/* --- On the thread -------------------------------------------------------------------------- */

/* Compiles the same plan without memory, because the measured one keeps its arena until it is
 * freed. */
static LigProfiled *
keep (const LigMeasurementJob *job,
      LigProfile *profile,
      const LigPlanOptions *options,
      GError **error)
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
  profiled->load = g_steal_pointer (&profile->load);
  return profiled;
}

static gboolean
measure (LigMeasurement *self,
         const LigMeasurementJob *job,
         LigDevice *device,
         gpointer results,
         GError **error)
{
  const char *text = LIG_PROFILING (self)->measured;
  g_autoptr (LigProfileLoad) load = text ? lig_profile_load_parse (text, job->store, error) : NULL;
  if (text && !load)
    return FALSE;
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure_loaded (job->sequence, device, job->options, job->count, job->rounds, load,
                                job->store, lig_measurement_watch, self, error);
  for (guint i = 0; profiles && i < profiles->len; i++) {
    LigProfiled *profiled = keep (job, profiles->pdata[i], &job->options[i], error);
    if (!profiled)
      return FALSE;
    g_ptr_array_add (results, profiled);
  }
  return profiles != NULL;
}

/* --- On the main thread ---------------------------------------------------------------------- */

/* Shows the plan of the document's policy, else the fastest. */
static void
show_wanted (LigMeasurement *measurement)
{
  LigProfiling *self = LIG_PROFILING (measurement);
  LigPlan *plan = lig_document_get_plan (lig_measurement_get_document (measurement));
  const LigProfiled *profiled;
  self->shown = 0;
  for (guint i = 0; (profiled = lig_profiling_get (self, i)); i++) {
    gboolean wanted = plan && lig_plan_get_policy (profiled->plan) == lig_plan_get_policy (plan);
    if (wanted || profiled->step < lig_profiling_get_shown (self)->step)
      self->shown = i;
    if (wanted)
      return;
  }
}

gboolean
lig_profiling_start (
  LigProfiling *self, const LigPolicy *policies, guint count, guint rounds, GError **error)
{
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_profiled_free);
  LigPlan *plan = lig_document_get_plan (lig_measurement_get_document (LIG_MEASUREMENT (self)));
  if (!lig_measurement_is_active (LIG_MEASUREMENT (self))) {
    g_free (self->measured);
    self->measured = plan && lig_plan_has_loads (plan) ? g_strdup (self->load) : NULL;
  }
  if (!lig_measurement_start (LIG_MEASUREMENT (self), policies, count, rounds, results, error))
    return FALSE;
  self->began = 0;
  return TRUE;
}

void
lig_profiling_set_load (LigProfiling *self, const char *load)
{
  if (g_strcmp0 (load, self->load) == 0)
    return;
  g_free (self->load);
  self->load = g_strdup (load);
  lig_measurement_announce (LIG_MEASUREMENT (self));
}

const char *
lig_profiling_get_load (LigProfiling *self)
{
  return self->load;
}

double
lig_profiling_get_progress (LigProfiling *self, double *left)
{
  guint rounds, round = lig_measurement_get_done (LIG_MEASUREMENT (self), &rounds);
  gint64 now = g_get_monotonic_time ();
  *left = NAN;
  /* The first round is slower than the others: it chooses algorithms and touches memory. */
  if (round < 1)
    return -1;
  if (self->began == 0) {
    self->began = now;
    self->first = round;
  }
  if (round > self->first)
    *left = (double) (now - self->began) * 1e-6 / (round - self->first) * (rounds - round);
  return (double) round / MAX (rounds, 1);
}

const LigProfiled *
lig_profiling_get (LigProfiling *self, guint n)
{
  GPtrArray *results = lig_measurement_get_results (LIG_MEASUREMENT (self));
  return results && n < results->len ? results->pdata[n] : NULL;
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
  lig_measurement_announce (LIG_MEASUREMENT (self));
}

gboolean
lig_profiling_get_timed (LigProfiling *self, LigTimedPlan *timed)
{
  const LigProfiled *shown = lig_profiling_get_shown (self);
  if (!shown || lig_measurement_is_stale (LIG_MEASUREMENT (self)))
    return FALSE;
  *timed = (LigTimedPlan){shown->plan, shown->steps, shown->passes, NULL};
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_profiling_finalize (GObject *object)
{
  LigProfiling *self = LIG_PROFILING (object);
  g_free (self->load);
  g_free (self->measured);
  G_OBJECT_CLASS (lig_profiling_parent_class)->finalize (object);
}

static void
lig_profiling_class_init (LigProfilingClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_profiling_finalize;
  LigMeasurementClass *measurement_class = LIG_MEASUREMENT_CLASS (class);
  measurement_class->busy = N_ ("this sequence is already being profiled");
  measurement_class->empty = N_ ("there is nothing to profile: the sequence has no operations");
  measurement_class->measure = measure;
  measurement_class->take = show_wanted;
  measurement_class->free_results = (GDestroyNotify) g_ptr_array_unref;
}

static void
lig_profiling_init (LigProfiling *self)
{
}

LigProfiling *
lig_profiling_of (LigDocument *document)
{
  return lig_measurement_of (document, LIG_TYPE_PROFILING);
}
