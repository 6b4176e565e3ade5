/* SPDX-License-Identifier: MIT */
/* Measures how long ranks wait for each other: the slowest one waits least, because the others
 * reach each collective before it. */
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"

#include <ligature/ranks.h>
#include <ligature/store-rows.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The weight of the last step in the moving averages, which tell the slowest rank. */
static const double NEWEST = 0.1;

static int
count_ranks (LigRun *self)
{
  return lig_ranks_get_count (lig_run_ranks (self));
}

/* The waits of a program start at 0. */
static double
find_waited (LigRun *self, double waiting)
{
  double waited = waiting - self->waiting_before;
  self->waiting_before = waiting;
  return waited >= 0 ? waited : waiting;
}

gboolean
lig_run_join_step (LigRun *self, double *loss, double waiting, gboolean *abandoned, GError **error)
{
  int count = count_ranks (self);
  double own[] = {*loss, find_waited (self, waiting), *abandoned};
  const int n = G_N_ELEMENTS (own);
  if (!lig_run_ranks (self))
    return TRUE;
  g_autofree double *all = g_new (double, n *(gsize) count);
  if (!lig_ranks_gather (lig_run_ranks (self), own, n, all, error))
    return FALSE;
  gboolean first = !self->waited;
  if (first) {
    self->waited = g_new0 (double, (gsize) count);
    self->waited_lately = g_new0 (double, (gsize) count);
  }
  *loss = 0;
  for (int rank = 0; rank < count; rank++) {
    double *lately = &self->waited_lately[rank];
    *loss += all[n * rank] / count;
    self->waited[rank] = all[n * rank + 1];
    *abandoned |= all[n * rank + 2] != 0;
    *lately += (first ? 1 : NEWEST) * (self->waited[rank] - *lately);
  }
  return TRUE;
}

/* Returns the rank with the shortest wait, and sets the minimum and the maximum. */
static int
find_slowest (const double *waited, int count, double *min, double *max)
{
  int slowest = 0;
  *max = waited[0];
  for (int rank = 1; rank < count; rank++) {
    slowest = waited[rank] < waited[slowest] ? rank : slowest;
    *max = MAX (*max, waited[rank]);
  }
  *min = waited[slowest];
  return slowest;
}

void
lig_run_note_waits (LigRun *self, gint64 step)
{
  double min, max;
  if (!self->waited)
    return;
  find_slowest (self->waited, count_ranks (self), &min, &max);
  lig_run_metric (self, step, LIG_METRIC_EXPOSED, min * 1e3);
  lig_run_metric (self, step, LIG_METRIC_IMBALANCE, (max - min) * 1e3);
  double low, high;
  int slowest = find_slowest (self->waited_lately, count_ranks (self), &low, &high);
  lig_run_metric (self, step, LIG_METRIC_SLOWEST, slowest);
  g_mutex_lock (&self->lock);
  lig_run_keep_time (self->exposed_seconds, step, min);
  lig_run_keep_time (self->imbalance_seconds, step, max - min);
  self->progress.slowest = slowest;
  g_mutex_unlock (&self->lock);
}

char *
lig_run_explain_waits (const LigRunProgress *progress)
{
  if (isnan (progress->exposed))
    return NULL;
  g_autofree char *exposed = lig_units_time (progress->exposed);
  g_autofree char *imbalance = lig_units_time (progress->imbalance);
  return g_strdup_printf (
    _ ("exposed communication: %s per step; rank %d is the slowest: the others "
       "wait up to %s per step for it"),
    exposed, progress->slowest, imbalance);
}
