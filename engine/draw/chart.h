/* SPDX-License-Identifier: MIT */
/* How values become pixels: axes, their ticks, the place of a plot within its picture. */
#pragma once

#include "engine/draw/canvas.h"

/* What an axis shows, in values (or their decimal logarithms), and the pixels it lies on. */
typedef struct {
  double from, to, start, end;
  gboolean log;
} LigAxis;

/* The plot without titles and labels. */
typedef struct {
  LigAxis x, y;
} LigFrame;

enum { LIG_CHART_LEFT = 58, LIG_CHART_RIGHT = 16, LIG_CHART_BOTTOM = 40 };

/* The pixel of a value; NaN for what the axis cannot show. */
double lig_axis_place (const LigAxis *axis, double value);
double lig_axis_value (const LigAxis *axis, double pixel);

/* Brings the ends of an axis, whatever they are, to where pixels can be computed from them. */
void lig_axis_hold (LigAxis *axis);

/* A tick and its label: null where it is a lesser one. */
typedef struct {
  double value;
  char *label;
} LigAxisTick;

/* (transfer full) (element-type LigAxisTick): some @spacing pixels apart. */
GArray *lig_axis_ticks (const LigAxis *axis, double spacing);

/* Makes the ends of an axis round values; one that shows nothing shows 0 to 1. */
void lig_axis_round (LigAxis *axis, double spacing);

/* What the axis of x shows, on these pixels. FALSE: there is nothing to show. */
gboolean lig_chart_set_x (const LigChart *chart, LigAxis *x, double width);

/* The y of each point after smoothing; (transfer full). */
double *lig_chart_smooth (const LigChart *chart, const LigChartSeries *series);

/* The last point at or before x, where the curve is there at all; -1. */
int lig_chart_find_point (const LigChartSeries *series, double x);

/* The x of a point of any curve that is next to @x; NaN: there is none. */
double lig_chart_nearest_x (const LigChart *chart, double x);
