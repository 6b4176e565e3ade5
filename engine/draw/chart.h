/* SPDX-License-Identifier: MIT */
/* The mapping of values to pixels: axes, their ticks, the place of the plot within the picture. */
#pragma once

#include "engine/draw/canvas.h"

/* An axis: the ends of its range, as values or their decimal logarithms, and the pixels of both
 * ends. */
typedef struct {
  double from, to, start, end;
  gboolean log;
} LigAxis;

/* The area of the plot, without titles and labels. */
typedef struct {
  LigAxis x, y;
} LigFrame;

enum { LIG_CHART_LEFT = 58, LIG_CHART_RIGHT = 16, LIG_CHART_BOTTOM = 40 };

/* Return the pixel of a value, NaN if the axis cannot show it, and the value of a pixel. */
double lig_axis_place (const LigAxis *axis, double value);
double lig_axis_value (const LigAxis *axis, double pixel);

/* Limits the ends of an axis to values from which pixels can be computed; NaN becomes 0 to 1. */
void lig_axis_hold (LigAxis *axis);

/* A tick and its label, NULL for a minor tick. */
typedef struct {
  double value;
  char *label;
} LigAxisTick;

/* Returns (transfer full) (element-type LigAxisTick) ticks about @spacing pixels apart. */
GArray *lig_axis_ticks (const LigAxis *axis, double spacing);

/* Removes trailing zeros of decimals in place, because ticks are at round numbers: `1.50 ms`
 * becomes `1.5 ms`. Returns the same text. */
char *lig_axis_trim (char *text);

/* Rounds the ends of an axis outwards; an empty axis becomes 0 to 1. */
void lig_axis_round (LigAxis *axis, double spacing);

/* Sets the range and the pixels of the x axis. Returns FALSE if no curve has a point. */
gboolean lig_chart_set_x (const LigChart *chart, LigAxis *x, double width);

/* Returns (transfer full) the y of each point after smoothing. */
double *lig_chart_smooth (const LigChart *chart, const LigChartSeries *series);

/* Returns the index of the last point at or before x, -1 before the curve begins or after it ends.
 */
int lig_chart_find_point (const LigChartSeries *series, double x);

/* Returns the x of the point nearest to @x among all curves; NaN if there are no points. */
double lig_chart_nearest_x (const LigChart *chart, double x);
