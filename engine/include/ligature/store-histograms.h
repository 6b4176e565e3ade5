/* SPDX-License-Identifier: MIT */
/* The histograms of weights and gradients of training runs in the store. */
#pragma once

#include <ligature/histogram.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * LigHistogramEntry:
 * @parameter: the path of a trained parameter
 * @gradient: whether the histogram is that of its gradient
 * @histogram: the histogram
 *
 * A histogram that is written to the store.
 */
typedef struct {
  const char *parameter;
  gboolean gradient;
  const LigHistogram *histogram;
} LigHistogramEntry;

/**
 * lig_store_add_histograms: (skip)
 * @self: a store
 * @run: the uuid of a run
 * @step: the step after which they were computed
 * @entries: (array length=count): the histograms in the order in which they are read back
 * @count: their number
 *
 * Adds the histograms of a step, all or none. They replace those of the same step.
 *
 * Returns: %FALSE with %LIG_ERROR_STORE set
 */
LIG_API gboolean lig_store_add_histograms (LigStore *self,
                                           const char *run,
                                           gint64 step,
                                           const LigHistogramEntry *entries,
                                           guint count,
                                           GError **error);

/**
 * lig_store_list_histograms:
 * @self: a store
 * @run: the uuid of a run
 *
 * Returns: (transfer full): the paths of the parameters of which the run has histograms, in the
 *   order of the ops; %NULL with %LIG_ERROR_STORE set
 */
LIG_API GStrv lig_store_list_histograms (LigStore *self, const char *run, GError **error);

/**
 * lig_store_get_histograms: (skip)
 * @self: a store
 * @run: the uuid of a run
 * @parameter: (nullable): the path of a parameter; %NULL for all
 * @max_steps: the maximum number of steps of each series; of more, evenly chosen ones are read, the
 *   newest among them. 0: all steps
 *
 * Returns: (transfer container) (element-type LigHistogramSeries): series owned by the array, in
 *   the order of the ops, the weights of a parameter before its gradient; %NULL with
 *   %LIG_ERROR_STORE or %LIG_ERROR_FORMAT set
 */
LIG_API GPtrArray *lig_store_get_histograms (
  LigStore *self, const char *run, const char *parameter, guint max_steps, GError **error);

G_END_DECLS
