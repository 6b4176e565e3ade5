/* SPDX-License-Identifier: MIT */
/* A chart that can be read with the pointer or the keyboard: curves over a common axis.
 *
 * Left and Right move the cursor, Home and End go to the ends, + and - zoom around it, 0 shows all;
 * a drag zooms, a double click shows all. Actions: chart.log, chart.reset, chart.export-png,
 * chart.export-svg, chart.export-csv, chart.copy-csv. */
#pragma once

#include "ui/session/curve.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_CHART_VIEW (lig_chart_view_get_type ())
G_DECLARE_FINAL_TYPE (LigChartView, lig_chart_view, LIG, CHART_VIEW, GtkWidget)

GtkWidget *lig_chart_view_new (void);

void lig_chart_view_set_labels (LigChartView *self,
                                const char *title,
                                const char *x_label,
                                const char *y_label);

/* Sets the text that is shown while there is nothing to draw. */
void lig_chart_view_set_empty (LigChartView *self, const char *text);

void lig_chart_view_clear (LigChartView *self);

/* Adds a curve. Curves are drawn in the order in which they are added, each in its own colour. The
 * view keeps a reference; lig_chart_view_refresh() shows newly appended values. */
void lig_chart_view_add_curve (LigChartView *self, const char *label, LigCurve *curve);

/* Adds a curve from values, which are copied. */
void lig_chart_view_add_points (
  LigChartView *self, const char *label, const double *x, const double *y, guint count);

void lig_chart_view_refresh (LigChartView *self);

void lig_chart_view_set_log (LigChartView *self, gboolean log);

/* Sets the smoothing, 0 to 0.999. */
void lig_chart_view_set_smoothing (LigChartView *self, double smoothing);

/* Set the visible range, NaN for all, and the cursor, NaN for none. */
void lig_chart_view_set_range (LigChartView *self, double from, double to);
void lig_chart_view_set_cursor (LigChartView *self, double x);
double lig_chart_view_get_cursor (LigChartView *self);

/* Writes a file; the extension .png, .svg, .pdf or .csv chooses the format. */
gboolean lig_chart_view_export (LigChartView *self, const char *path, GError **error);

G_END_DECLS
