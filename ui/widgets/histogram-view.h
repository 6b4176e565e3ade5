/* SPDX-License-Identifier: MIT */
/* The histograms of a run's weights and gradients over its steps, one tensor at a time. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_HISTOGRAM_VIEW (lig_histogram_view_get_type ())
G_DECLARE_FINAL_TYPE (LigHistogramView, lig_histogram_view, LIG, HISTOGRAM_VIEW, AdwBin)

/* Reads the histograms of a run on a thread, and shows those of the chosen tensor. Hidden while
 * there are none, and without a store or a run. The choice is kept for other runs that have such a
 * tensor. */
void lig_histogram_view_show (LigHistogramView *self, LigStore *store, const char *run);

/* Places the choosers below each other instead of in a row. */
void lig_histogram_view_set_narrow (LigHistogramView *self);

/* Returns the step of the newest histogram that was read; -1 without any. */
gint64 lig_histogram_view_get_newest (LigHistogramView *self);

G_END_DECLS
