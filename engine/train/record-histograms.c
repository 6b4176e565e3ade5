/* SPDX-License-Identifier: MIT */
/* Histograms of weights and gradients between steps. The gradients of a step stay in the state
 * until the next backward pass: updates and clipping only read them. */
#include "engine/train/record-histograms.h"
#include "engine/base/histogram-private.h"
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include <ligature/ranks.h>
#include <ligature/state.h>
#include <ligature/store-histograms.h>

#include <math.h>
#include <string.h>

/* The numbers of a histogram that are sent between ranks: counts below 2^53 are exact. */
enum { FIGURES = 7, NUMBERS = 2 * LIG_HISTOGRAM_BINS + FIGURES };

gboolean
lig_run_counts_at (LigRun *self, gint64 step)
{
  gint64 every = self->settings.histograms;
  return every > 0 && (step % every == 0 || step == self->settings.steps);
}

/* --- Ranks --------------------------------------------------------------------------------- */

static void
pack (const LigHistogram *from, double *to)
{
  const double figures[FIGURES] = {
    (double) from->zeros, (double) from->nan, (double) from->infinite, from->min, from->max,
    from->mean,           from->rms};
  for (int i = 0; i < 2 * LIG_HISTOGRAM_BINS; i++)
    to[i] = (double) from->counts[i / LIG_HISTOGRAM_BINS][i % LIG_HISTOGRAM_BINS];
  memcpy (to + 2 * LIG_HISTOGRAM_BINS, figures, sizeof figures);
}

static void
unpack (const double *from, LigHistogram *to)
{
  const double *figures = from + 2 * LIG_HISTOGRAM_BINS;
  for (int i = 0; i < 2 * LIG_HISTOGRAM_BINS; i++)
    to->counts[i / LIG_HISTOGRAM_BINS][i % LIG_HISTOGRAM_BINS] = (guint64) from[i];
  to->zeros = (guint64) figures[0];
  to->nan = (guint64) figures[1];
  to->infinite = (guint64) figures[2];
  to->min = figures[3];
  to->max = figures[4];
  to->mean = figures[5];
  to->rms = figures[6];
}

/* Merges the histograms of all ranks, in their order. */
static gboolean
merge_ranks (LigRanks *ranks, LigHistogram *histogram, GError **error)
{
  int count = lig_ranks_get_count (ranks);
  g_autofree double *all = g_new (double, (gsize) count *NUMBERS);
  double own[NUMBERS];
  pack (histogram, own);
  if (!lig_ranks_gather (ranks, own, NUMBERS, all, error))
    return FALSE;
  lig_histogram_init (histogram);
  for (int rank = 0; rank < count; rank++) {
    LigHistogram one;
    unpack (all + (gsize) rank * NUMBERS, &one);
    lig_histogram_merge (histogram, &one);
  }
  return TRUE;
}

/* --- Counting ------------------------------------------------------------------------------ */

/* Counts the values of one parameter or gradient. If a rank fails, all do, and none waits for its
 * histogram. */
static gboolean
count (LigRun *self, LigStateArray array, const char *path, LigHistogram *histogram, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  lig_histogram_init (histogram);
  gboolean fine = lig_state_count_values (self->state, array, path, histogram, error);
  if (!lig_run_share_failure (self, fine, error))
    return FALSE;
  return !ranks || merge_ranks (ranks, histogram, error);
}

/* The store may be locked by another program for long. */
static void
record (LigRun *self, gint64 step, const GArray *entries)
{
  g_autoptr (GError) failure = NULL;
  if (!self->store ||
      lig_store_add_histograms (self->store, self->uuid, step,
                                (const LigHistogramEntry *) (gpointer) entries->data, entries->len,
                                &failure))
    return;
  g_mutex_lock (&self->lock);
  g_free (self->problem);
  self->problem = g_strdup (failure->message);
  g_mutex_unlock (&self->lock);
}

gboolean
lig_run_count (LigRun *self, gint64 step, GError **error)
{
  static const LigStateArray arrays[] = {LIG_STATE_PARAMETERS, LIG_STATE_GRADIENTS};
  const char *const *paths = lig_state_get_paths (self->state);
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (LigHistogramEntry));
  g_autoptr (GPtrArray) histograms = g_ptr_array_new_with_free_func (g_free);
  for (; *paths; paths++) {
    if (!lig_state_is_trained (self->state, *paths))
      continue;
    for (guint i = 0; i < G_N_ELEMENTS (arrays); i++) {
      LigHistogram *histogram = g_new (LigHistogram, 1);
      g_ptr_array_add (histograms, histogram);
      if (!count (self, arrays[i], *paths, histogram, error))
        return FALSE;
      LigHistogramEntry entry = {*paths, arrays[i] == LIG_STATE_GRADIENTS, histogram};
      g_array_append_val (entries, entry);
    }
  }
  record (self, step, entries);
  return TRUE;
}
