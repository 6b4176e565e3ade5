/* SPDX-License-Identifier: MIT */
/* The progress and the metrics of a run, written by its thread and read by others. */
#include "engine/train/run-private.h"
#include <ligature/figures.h>
#include <ligature/store.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>

#include <math.h>

void
lig_run_metric (LigRun *self, gint64 step, const char *name, double value)
{
  if (!isfinite (value))
    return;
  g_mutex_lock (&self->metrics_lock);
  self->metrics[self->metrics_in++ % LIG_RUN_METRICS] = (LigRunMetric){step, name, value};
  g_mutex_unlock (&self->metrics_lock);
  if (self->store)
    lig_store_add_metric (self->store, self->uuid, step, name, value);
}

guint
lig_run_take_metrics (LigRun *self, LigRunMetric *to, guint max)
{
  if (!g_mutex_trylock (&self->metrics_lock))
    return 0;
  if (self->metrics_in - self->metrics_out > LIG_RUN_METRICS)
    self->metrics_out = self->metrics_in - LIG_RUN_METRICS;
  guint count = (guint) MIN (self->metrics_in - self->metrics_out, max);
  for (guint i = 0; i < count; i++)
    to[i] = self->metrics[(self->metrics_out + i) % LIG_RUN_METRICS];
  self->metrics_out += count;
  g_mutex_unlock (&self->metrics_lock);
  return count;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

void
lig_run_keep_time (GArray *times, gint64 step, double seconds)
{
  guint slot = (guint) ((step - 1) % LIG_KEPT_STEP_TIMES);
  float taken = (float) seconds;
  if (slot < times->len)
    g_array_index (times, float, slot) = taken;
  else
    g_array_append_val (times, taken);
}

/* Returns the median of the times of recent steps, NaN if there are none. The caller holds the
 * lock. */
static double
find_median (const GArray *times)
{
  if (times->len == 0)
    return NAN;
  g_autoptr (GArray) sorted = g_array_copy ((GArray *) times);
  g_array_sort (sorted, compare);
  return (double) g_array_index (sorted, float, sorted->len / 2);
}

/* Sets the tokens per second and the utilization of the device by micro-batches of the step. */
static void
find_use (LigRun *self, LigRunProgress *progress)
{
  LigUse use;
  gint64 batches = MAX (self->settings.accumulate, 1);
  lig_figures_use_in (self->plan, progress->step_seconds / (double) batches, &use);
  progress->tokens = use.tokens;
  progress->rows_per_second = use.per_second;
  progress->mfu = use.mfu;
}

char *
lig_run_describe_rate (const LigRunProgress *progress)
{
  g_return_val_if_fail (progress, NULL);
  const LigUse use = {.tokens = progress->tokens,
                      .per_second = progress->rows_per_second,
                      .mfu = progress->mfu,
                      .measured = TRUE};
  if (progress->tokens)
    return lig_figures_use_text (&use);
  if (isnan (progress->samples_per_second))
    return NULL;
  g_autofree char *count = lig_units_count (progress->samples_per_second);
  if (!(use.mfu >= 0.005))
    return g_strdup_printf (_ ("%s samples/s"), count);
  return g_strdup_printf (_ ("%s samples/s, %.0f %% MFU"), count, 100 * use.mfu);
}

/* The training thread takes the lock thousands of times a second, each time briefly. A thread that
 * sleeps on it finds it taken again when it wakes, which costs a window 20 ms per frame. Polling
 * finds one of the many moments in which the lock is free. */
static void
lock_to_watch (LigRun *self)
{
  for (int i = 0; i < 4000; i++)
    if (g_mutex_trylock (&self->lock))
      return;
  g_mutex_lock (&self->lock);
}

void
lig_run_get_progress (LigRun *self, LigRunProgress *progress)
{
  double samples = (double) self->input->shape.axes[0] * (double) self->settings.accumulate *
                   lig_device_get_n_ranks (self->device, LIG_GROUP_DATA);
  lock_to_watch (self);
  *progress = self->progress;
  progress->step_seconds = find_median (self->step_seconds);
  progress->exposed = find_median (self->exposed_seconds);
  progress->imbalance = find_median (self->imbalance_seconds);
  gboolean running = progress->status == LIG_RUN_RUNNING || progress->status == LIG_RUN_PAUSED;
  if (running)
    progress->seconds = lig_now () - self->began;
  double tuning_seconds = self->tuning_seconds;
  progress->searching = g_atomic_int_get (&self->searching);
  g_mutex_unlock (&self->lock);
  gint64 done = progress->step - progress->first_step;
  if (done > 0) {
    if (running)
      progress->left = (progress->seconds - tuning_seconds) / (double) done *
                       (double) (progress->steps - progress->step);
    progress->samples_per_second = samples / progress->step_seconds;
    find_use (self, progress);
  }
}

gboolean
lig_run_get_evaluation (LigRun *self, gint64 *batch, gint64 *batches)
{
  lock_to_watch (self);
  *batch = self->eval_batch;
  *batches = self->eval_batches;
  g_mutex_unlock (&self->lock);
  return *batches > 0;
}

char *
lig_run_dup_problem (LigRun *self)
{
  lock_to_watch (self);
  char *problem = g_strdup (self->problem);
  g_mutex_unlock (&self->lock);
  return problem;
}

const char *
lig_run_status_name (LigRunStatus status)
{
  static const char *const names[] = {"ready",  "running",   "paused",     "done",
                                      "failed", "cancelled", "interrupted"};
  return names[status];
}
