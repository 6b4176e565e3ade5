/* SPDX-License-Identifier: MIT */
/* The points of a sweep: their results, and the run of the next one. */
#include "engine/ranks/messages.h"
#include "engine/train/sweep-private.h"
#include <ligature/device.h>
#include <ligature/ranks.h>
#include <ligature/sequence.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <math.h>

static LigSweepPoint *
get_point (LigSweep *self, guint number)
{
  return &g_array_index (self->points, LigSweepPoint, number);
}

static void
take_row (LigSweepPoint *point, const LigRunRow *row)
{
  g_free (point->run);
  g_free (point->status);
  g_free (point->message);
  point->run = g_strdup (row->uuid);
  point->status = g_strdup (row->status);
  point->message = *row->message ? g_strdup (row->message) : NULL;
  point->done = MAX (row->last_step, 0);
  point->first_loss = row->first_loss;
  point->loss = row->last_loss;
  point->eval_loss = row->eval_loss;
  point->eval_accuracy = row->eval_accuracy;
  point->step_ms = row->step_ms;
  point->seconds = row->ended ? (double) (row->ended - row->started) * 1e-6 : NAN;
}

/* The newest of several runs of one point counts, but none replaces a completed one. */
gboolean
lig_sweep_refresh (LigSweep *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->store, FALSE);
  const LigRunFilter filter = {.sweep = self->uuid};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (self->store, &filter, error);
  for (guint i = rows ? rows->len : 0; i > 0; i--) {
    const LigRunRow *row = rows->pdata[i - 1];
    if (row->point < 0 || row->point >= self->points->len)
      continue;
    LigSweepPoint *point = get_point (self, (guint) row->point);
    if (g_strcmp0 (point->status, "done") != 0 || g_str_equal (row->status, "done"))
      take_row (point, row);
  }
  return rows != NULL;
}

static gboolean
is_missing (const LigSweepPoint *point)
{
  return !point->status || g_str_equal (point->status, "interrupted") ||
         g_str_equal (point->status, "cancelled");
}

int
lig_sweep_next (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), -1);
  for (guint i = 0; i < self->points->len; i++)
    if (is_missing (get_point (self, i)))
      return (int) i;
  return -1;
}

guint
lig_sweep_count_ended (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), 0);
  guint count = 0;
  for (guint i = 0; i < self->points->len; i++) {
    const char *status = get_point (self, i)->status;
    count += g_strcmp0 (status, "done") == 0 || g_strcmp0 (status, "failed") == 0;
  }
  return count;
}

void
lig_sweep_fail (LigSweep *self, guint point, const char *message)
{
  g_return_if_fail (LIG_IS_SWEEP (self) && point < self->points->len && message);
  LigSweepPoint *at = get_point (self, point);
  g_free (at->status);
  g_free (at->message);
  at->status = g_strdup ("failed");
  at->message = g_strdup (message);
}

void
lig_sweep_retry (LigSweep *self)
{
  g_return_if_fail (LIG_IS_SWEEP (self));
  for (guint i = 0; i < self->points->len; i++)
    if (g_strcmp0 (get_point (self, i)->status, "failed") == 0) {
      g_clear_pointer (&get_point (self, i)->status, g_free);
      g_clear_pointer (&get_point (self, i)->run, g_free);
      g_clear_pointer (&get_point (self, i)->message, g_free);
    }
}

/* --- Training ------------------------------------------------------------------------------ */

/* Returns the newest checkpoint among the first `left` artifacts, and lowers `left`. */
static char *
take_checkpoint (GPtrArray *artifacts, guint *left)
{
  while (*left > 0) {
    const LigArtifactRow *artifact = artifacts->pdata[--*left];
    if (g_str_equal (artifact->kind, "checkpoint") &&
        g_file_test (artifact->path, G_FILE_TEST_IS_REGULAR))
      return g_strdup (artifact->path);
  }
  return NULL;
}

/* Returns the files of an unfinished point's run, or NULL if it has no run. */
static GPtrArray *
get_artifacts (LigSweep *self, const LigSweepPoint *at)
{
  return self->store && is_missing (at) && at->run
           ? lig_store_get_artifacts (self->store, at->run, NULL)
           : NULL;
}

char *
lig_sweep_find_checkpoint (LigSweep *self, guint point)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && point < self->points->len, NULL);
  g_autoptr (GPtrArray) artifacts = get_artifacts (self, get_point (self, point));
  guint left = artifacts ? artifacts->len : 0;
  return take_checkpoint (artifacts, &left);
}

/* Resumes the run of a point from its newest checkpoint. Returns NULL if that is not possible. All
 * ranks try the files that rank 0 finds. */
static LigRun *
resume (LigSweep *self, const LigSweepPoint *at, LigDevice *device)
{
  g_autoptr (GPtrArray) artifacts = get_artifacts (self, at);
  guint left = artifacts ? artifacts->len : 0;
  for (;;) {
    g_autofree char *path = take_checkpoint (artifacts, &left);
    if (!lig_ranks_broadcast_text (lig_device_get_ranks (device), &path, NULL) || !path)
      return NULL;
    g_autoptr (LigRun) found = lig_run_resume (path, device, NULL, self->store, NULL);
    if (found)
      return g_steal_pointer (&found);
  }
}

/* With another number of ranks the runs could not be compared. */
static gboolean
check_ranks (LigSweep *self, LigDevice *device, GError **error)
{
  int count = lig_device_get_n_ranks (device, LIG_GROUP_ALL);
  if (count == self->ranks)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("ranks: %d, expected %d like in sweep %.8s; continue it with as many"), count,
               self->ranks, self->uuid);
  return FALSE;
}

LigSequence *
lig_sweep_get_training (LigSweep *self, guint point, LigRunSettings *settings, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->uuid && point < self->points->len, NULL);
  return lig_sweep_resolve (self, get_point (self, point)->values, settings, error);
}

LigRun *
lig_sweep_prepare (LigSweep *self, guint point, LigDevice *device, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->uuid && point < self->points->len, NULL);
  const LigSweepPoint *at = get_point (self, point);
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sweep_resolve (self, at->values, &settings, error);
  if (!sequence || !check_ranks (self, device, error))
    return NULL;
  g_autoptr (LigRun) run = resume (self, at, device);
  if (!run)
    run = lig_run_new (sequence, device, &settings, self->init, self->store, error);
  gboolean fine = run && (!self->store || lig_store_set_sweep (self->store, lig_run_get_uuid (run),
                                                               self->uuid, point, error));
  return lig_ranks_share_failure (lig_device_get_ranks (device), fine, error)
           ? g_steal_pointer (&run)
           : NULL;
}

/* Returns the number of samples in a number of steps of a point, an estimate of its relative
 * time. */
static double
weigh (LigSweep *self, const LigSweepPoint *point, gint64 steps)
{
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sweep_resolve (self, point->values, &settings, NULL);
  return (double) MAX (steps, 0) * (double) MAX (settings.batch, 1) * (double) settings.accumulate;
}

double
lig_sweep_estimate_left (LigSweep *self, int point, const LigRunProgress *progress)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), NAN);
  double seconds = 0, samples = 0, left = 0;
  for (guint i = 0; i < self->points->len; i++) {
    const LigSweepPoint *at = get_point (self, i);
    if ((int) i == point && progress) {
      samples += weigh (self, at, progress->step - progress->first_step);
      seconds += progress->seconds;
      left += weigh (self, at, progress->steps - progress->step);
    } else if (g_strcmp0 (at->status, "done") == 0 && isfinite (at->seconds)) {
      samples += weigh (self, at, at->done);
      seconds += at->seconds;
    } else if (is_missing (at)) {
      left += weigh (self, at, at->steps - at->done);
    }
  }
  return left <= 0 ? 0 : samples > 0 && seconds > 0 ? left * seconds / samples : NAN;
}
