/* SPDX-License-Identifier: MIT */
/* The drawn part of a chart view: curves, cursor, zoom; pointer and keys. */
#pragma once

#include "ui/widgets/chart-data.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_CHART_PLOT (lig_chart_plot_get_type ())
G_DECLARE_FINAL_TYPE (LigChartPlot, lig_chart_plot, LIG, CHART_PLOT, GtkWidget)

/* Signal `read`: the cursor moved. */
LigChartData *lig_chart_plot_get_data (LigChartPlot *self);
void lig_chart_plot_refresh (LigChartPlot *self);
void lig_chart_plot_set_labels (LigChartPlot *self,
                                const char *title,
                                const char *x_label,
                                const char *y_label);
void lig_chart_plot_set_log (LigChartPlot *self, gboolean log);
void lig_chart_plot_set_smoothing (LigChartPlot *self, double smoothing);
void lig_chart_plot_set_range (LigChartPlot *self, double from, double to);
void lig_chart_plot_set_cursor (LigChartPlot *self, double x);
double lig_chart_plot_get_cursor (LigChartPlot *self);

/* Gets the chart as shown, with its title; returns FALSE if there is nothing to draw. */
gboolean lig_chart_plot_get_chart (LigChartPlot *self, LigChart *chart);

G_END_DECLS
