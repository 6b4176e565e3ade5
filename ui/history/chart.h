/* SPDX-License-Identifier: MIT */
/* Curves of any number of runs in one chart: a metric over steps or over time. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_HISTORY_CHART (lig_history_chart_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryChart, lig_history_chart, LIG, HISTORY_CHART, AdwBin)

/* The maximum number of points of a run's curve; each has the minimum and maximum of its bucket. */
#define LIG_HISTORY_POINTS 4096

/**
 * lig_history_chart_show:
 * @runs: (element-type LigRunRow): in the order of the legend
 *
 * Reads the curves on a thread; the signal `loaded` is emitted once they are shown.
 */
void lig_history_chart_show (LigHistoryChart *self, LigStore *store, GPtrArray *runs);

/* Returns the number of curves shown, and sets the number of their points. */
guint lig_history_chart_get_curves (LigHistoryChart *self, guint *points);

/* Sets the metric, like `loss`; a metric that no run has is not shown. */
void lig_history_chart_set_metric (LigHistoryChart *self, const char *metric);
void lig_history_chart_set_time (LigHistoryChart *self, gboolean time);

G_END_DECLS
