/* SPDX-License-Identifier: MIT */
/* The curves of a chart in the form that the drawing code takes. */
#pragma once

#include "ui/session/curve.h"
#include <ligature/canvas.h>

typedef struct _LigChartData LigChartData;

LigChartData *lig_chart_data_new (void);
void lig_chart_data_free (LigChartData *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigChartData, lig_chart_data_free)

void lig_chart_data_clear (LigChartData *self);
void lig_chart_data_add_curve (LigChartData *self, const char *label, LigCurve *curve);
void lig_chart_data_add_points (
  LigChartData *self, const char *label, const double *x, const double *y, guint count);

guint lig_chart_data_get_count (LigChartData *self);

/**
 * lig_chart_data_fill:
 * @max: points of each series between the chart's `from` and `to`; if there are more, neighbours
 *   are merged into one point with their mean, min and max; 0: all points
 *
 * Sets series and count of a chart; they belong to the data and are valid until its next call.
 *
 * Returns: whether there is any point
 */
gboolean lig_chart_data_fill (LigChartData *self, LigChart *chart, guint max);

/* Returns the x that is @steps points away from @x among those of all series; an end if @x is NaN
 * or out of range. */
double lig_chart_data_move (LigChartData *self, double x, int steps);
gboolean lig_chart_data_get_ends (LigChartData *self, double *min, double *max);
