/* SPDX-License-Identifier: MIT */
/* Charts: curves over a common axis with grid, legend and cursor. Each column of pixels shows only
 * the range of its points, so that the size of a drawing does not grow with the number of points.
 */
#include "engine/draw/chart.h"

#include <glib/gi18n-lib.h>
#include <math.h>

enum { TITLE = 22, LEGEND = 18, X_SPACING = 76, Y_SPACING = 36 };

typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  const LigChart *chart;
  LigFrame frame;
  double width, height, **smooth; /* one array for each curve; NULL if it is not smoothed */
} Drawing;

static LigColour
series_colour (const Drawing *self, const LigChartSeries *series)
{
  return self->colours->series[series->colour % LIG_N_SERIES];
}

static const double *
series_values (const Drawing *self, guint index)
{
  return self->smooth[index] ? self->smooth[index] : self->chart->series[index].y;
}

/* --- Ranges -------------------------------------------------------------------------------- */

static gboolean
is_shown (const LigAxis *x, double value)
{
  value = !x->log ? value : value > 0 ? log10 (value) : NAN;
  return value >= x->from && value <= x->to;
}

static void
widen (LigAxis *axis, const LigAxis *x, const LigChartSeries *series, const double *values)
{
  for (guint i = 0; values && i < series->count; i++) {
    double value = values[i];
    if (!isfinite (value) || (axis->log && value <= 0) || !is_shown (x, series->x[i]))
      continue;
    value = axis->log ? log10 (value) : value;
    axis->from = MIN (axis->from, value);
    axis->to = MAX (axis->to, value);
  }
}

static void
set_y (Drawing *self)
{
  LigAxis *y = &self->frame.y;
  y->log = self->chart->log_y;
  y->from = INFINITY;
  y->to = -INFINITY;
  for (guint i = 0; i < self->chart->count; i++) {
    const LigChartSeries *series = &self->chart->series[i];
    widen (y, &self->frame.x, series, series->y);
    widen (y, &self->frame.x, series, series->min);
    widen (y, &self->frame.x, series, series->greatest);
  }
  lig_axis_round (y, Y_SPACING);
}

/* --- Axes, legend, title -------------------------------------------------------------------- */

static LigTextStyle
small_text (const Drawing *self)
{
  return (LigTextStyle){.size = 11, .colour = self->colours->dim};
}

static void
draw_x_axis (Drawing *self)
{
  const LigAxis *x = &self->frame.x, *y = &self->frame.y;
  LigTextStyle style = small_text (self);
  g_autoptr (GArray) ticks = lig_axis_ticks (x, X_SPACING);
  style.anchor = LIG_TEXT_MIDDLE;
  for (guint i = 0; i < ticks->len; i++) {
    const LigAxisTick *tick = &g_array_index (ticks, LigAxisTick, i);
    double at = lig_axis_place (x, tick->value);
    double points[] = {at, y->start, at, y->start + (tick->label ? 4 : 2)};
    lig_canvas_lines (self->canvas, points, 2, self->colours->line, 1, 0);
    lig_canvas_text (self->canvas, at, y->start + 16, &style, tick->label);
  }
  style.width = x->end - x->start;
  lig_canvas_text (self->canvas, (x->start + x->end) / 2, y->start + 32, &style,
                   self->chart->x_label);
}

static void
draw_y_axis (Drawing *self)
{
  const LigAxis *x = &self->frame.x, *y = &self->frame.y;
  LigTextStyle style = small_text (self);
  g_autoptr (GArray) ticks = lig_axis_ticks (y, Y_SPACING);
  style.anchor = LIG_TEXT_END;
  for (guint i = 0; i < ticks->len; i++) {
    const LigAxisTick *tick = &g_array_index (ticks, LigAxisTick, i);
    double at = lig_axis_place (y, tick->value);
    double points[] = {x->start, at, x->end, at};
    if (tick->label)
      lig_canvas_lines (self->canvas, points, 2, lig_colour_fade (self->colours->line, 0xb0), 1, 0);
    lig_canvas_text (self->canvas, x->start - 8, at + 4, &style, tick->label);
  }
}

/* Draws a sample of each curve's line and its label. Returns the height of the legend. */
static double
draw_legend (Drawing *self, double top)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->ink};
  double x = LIG_CHART_LEFT, y = top + 12, end = self->width - LIG_CHART_RIGHT;
  if (self->chart->count < (self->chart->title ? 2 : 1))
    return 0;
  for (guint i = 0; i < self->chart->count; i++) {
    const LigChartSeries *series = &self->chart->series[i];
    style.width = MAX (end - LIG_CHART_LEFT - 24, 8);
    double width = lig_canvas_text_width (self->canvas, &style, series->label);
    if (x > LIG_CHART_LEFT && x + 24 + width > end) {
      x = LIG_CHART_LEFT;
      y += LEGEND;
      /* The legend must leave space for the curves; the read-out still names all of them. */
      if (y > self->height / 3) {
        lig_canvas_text (self->canvas, end, y - LEGEND, &style, "…");
        return y - LEGEND + 6 - top;
      }
    }
    double points[] = {x, y - 4, x + 18, y - 4};
    lig_canvas_lines (self->canvas, points, 2, series_colour (self, series), 2.5,
                      series->dashed ? 4 : 0);
    lig_canvas_text (self->canvas, x + 24, y, &style, series->label);
    x += 24 + width + 18;
  }
  return y + 6 - top;
}

/* Draws title and unit in one line, then the legend. Returns the top of the plot. */
static double
draw_head (Drawing *self)
{
  const LigChart *chart = self->chart;
  LigTextStyle bold = {.size = 13, .bold = TRUE, .colour = self->colours->ink};
  LigTextStyle dim = small_text (self);
  double top = 6, used = 0;
  if (chart->title || chart->y_label) {
    bold.width = MAX (self->width - 24, 8);
    lig_canvas_text (self->canvas, 12, top + 14, &bold, chart->title);
    used = chart->title ? lig_canvas_text_width (self->canvas, &bold, chart->title) + 12 : 0;
    dim.width = MAX (self->width - 24 - used, 8);
    if (!chart->title || self->width - 24 - used > 30)
      lig_canvas_text (self->canvas, 12 + used, top + 14, &dim, chart->y_label);
    top += TITLE;
  }
  return top + draw_legend (self, top) + 6;
}

static void
draw_nothing (Drawing *self)
{
  const LigAxis *x = &self->frame.x, *y = &self->frame.y;
  LigTextStyle style = small_text (self);
  style.size = 13;
  style.anchor = LIG_TEXT_MIDDLE;
  style.width = x->end - x->start;
  double points[] = {x->start, y->start, x->end, y->start};
  lig_canvas_lines (self->canvas, points, 2, self->colours->line, 1, 0);
  lig_canvas_text (self->canvas, (x->start + x->end) / 2, (y->start + y->end) / 2, &style,
                   _ ("no values yet"));
}

/* --- Curves -------------------------------------------------------------------------------- */

/* The points of a curve that are kept in one column of pixels: the first, the extremes and the
 * last. */
typedef struct {
  double column, first, min, max, last;
} Column;

static void
append_point (GArray *to, double x, double y)
{
  g_array_append_val (to, x);
  g_array_append_val (to, y);
}

static void
flush_column (GArray *to, const Column *column)
{
  if (isnan (column->column))
    return;
  append_point (to, column->column, column->first);
  if (column->min != column->max) {
    append_point (to, column->column, column->min);
    append_point (to, column->column, column->max);
    append_point (to, column->column, column->last);
  }
}

/* Returns the points of a curve in pixels, x and y in turn; if several points share a column, at
 * most four remain. */
static GArray *
place_points (const Drawing *self, const LigChartSeries *series, const double *values)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (double));
  gboolean dense = series->count > 2 * (self->frame.x.end - self->frame.x.start);
  Column column = {NAN, 0, 0, 0, 0};
  for (guint i = 0; i < series->count; i++) {
    double x = lig_axis_place (&self->frame.x, series->x[i]);
    double y = lig_axis_place (&self->frame.y, values[i]);
    if (!isfinite (x) || !isfinite (y)) {
      flush_column (points, &column);
      append_point (points, NAN, NAN);
      column.column = NAN;
      continue;
    }
    x = dense ? floor (x) + 0.5 : x;
    if (x == column.column) {
      column.min = MIN (column.min, y);
      column.max = MAX (column.max, y);
      column.last = y;
      continue;
    }
    flush_column (points, &column);
    column = (Column){x, y, y, y, y};
  }
  flush_column (points, &column);
  return points;
}

static void
draw_line (
  Drawing *self, const LigChartSeries *series, const double *values, LigColour colour, double width)
{
  g_autoptr (GArray) points = place_points (self, series, values);
  const double *data = (const double *) points->data;
  guint count = points->len / 2;
  lig_canvas_lines (self->canvas, data, count, colour, width, series->dashed ? 5 : 0);
  /* A point without neighbours is on no line; draw a disc instead. */
  for (guint i = 0; i < count; i++) {
    gboolean before = i > 0 && isfinite (data[2 * i - 2]);
    gboolean after = i + 1 < count && isfinite (data[2 * i + 2]);
    if (isfinite (data[2 * i]) && !before && !after)
      lig_canvas_disc (self->canvas, data[2 * i], data[2 * i + 1], width + 1, colour);
  }
}

/* Draws one area for each section without gaps: along the upper bounds and back along the lower
 * ones. */
static void
draw_band (Drawing *self, const LigChartSeries *series)
{
  LigColour colour = lig_colour_fade (series_colour (self, series), 0x30);
  g_autoptr (GArray) upper = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) lower = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i <= series->count; i++) {
    double x = i < series->count ? lig_axis_place (&self->frame.x, series->x[i]) : NAN;
    double top = isnan (x) ? NAN : lig_axis_place (&self->frame.y, series->greatest[i]);
    double bottom = isnan (x) ? NAN : lig_axis_place (&self->frame.y, series->min[i]);
    if (isfinite (top) && isfinite (bottom)) {
      append_point (upper, x, top);
      append_point (lower, x, bottom);
      continue;
    }
    for (guint j = lower->len / 2; j-- > 0;)
      append_point (upper, g_array_index (lower, double, 2 * j),
                    g_array_index (lower, double, 2 * j + 1));
    lig_canvas_area (self->canvas, (const double *) upper->data, upper->len / 2, colour);
    g_array_set_size (upper, 0);
    g_array_set_size (lower, 0);
  }
}

/* Returns the description of a curve for screen readers. */
static char *
describe (const LigChartSeries *series)
{
  LigAxis range = {.from = INFINITY, .to = -INFINITY};
  LigAxis all = {.from = -INFINITY, .to = INFINITY};
  double last = NAN;
  widen (&range, &all, series, series->y);
  for (guint i = series->count; i-- > 0 && isnan (last);)
    last = series->y[i];
  const char *label = series->label ? series->label : "";
  if (!(range.from <= range.to))
    return g_strdup_printf (_ ("%s: no values"), label);
  g_autofree char *from = lig_draw_number (range.from, 4);
  g_autofree char *to = lig_draw_number (range.to, 4);
  g_autofree char *end = lig_draw_number (last, 4);
  return g_strdup_printf (_ ("%s: %s to %s, last %s"), label, from, to, end);
}

static void
draw_series (Drawing *self, guint index)
{
  const LigChartSeries *series = &self->chart->series[index];
  const LigAxis *x = &self->frame.x, *y = &self->frame.y;
  LigColour colour = series_colour (self, series);
  g_autofree char *text = describe (series);
  lig_canvas_begin_mark (self->canvas, x->start, y->end, x->end - x->start, y->start - y->end,
                         text);
  if (series->min && series->greatest)
    draw_band (self, series);
  if (self->smooth[index])
    draw_line (self, series, series->y, lig_colour_fade (colour, 0x50), 1);
  draw_line (self, series, series_values (self, index), colour, 1.75);
  lig_canvas_end_mark (self->canvas);
}

/* --- The cursor ---------------------------------------------------------------------------- */

static void
draw_read_out (Drawing *self, double at, double x)
{
  const LigAxis *axis = &self->frame.x;
  LigTextStyle style = {.size = 11, .colour = self->colours->ink};
  g_autofree char *text = lig_chart_read_out (self->chart, x);
  style.width = MAX (axis->end - axis->start - 12, 8);
  double width = lig_canvas_text_width (self->canvas, &style, text) + 12;
  double left = CLAMP (at - width / 2, axis->start, MAX (axis->end - width, axis->start));
  double top = self->frame.y.end + 2;
  lig_canvas_box (self->canvas, left, top, width, 20, 5, self->colours->card, self->colours->line,
                  1);
  lig_canvas_text (self->canvas, left + 6, top + 14, &style, text);
}

static void
draw_cursor (Drawing *self)
{
  const LigAxis *axis = &self->frame.x;
  double x =
    isfinite (self->chart->cursor) ? lig_chart_nearest_x (self->chart, self->chart->cursor) : NAN;
  double at = lig_axis_place (axis, x);
  if (!(at >= axis->start && at <= axis->end))
    return;
  double points[] = {at, self->frame.y.start, at, self->frame.y.end};
  lig_canvas_lines (self->canvas, points, 2, self->colours->dim, 1, 3);
  for (guint i = 0; i < self->chart->count; i++) {
    const LigChartSeries *series = &self->chart->series[i];
    int point = lig_chart_find_point (series, x);
    if (point < 0)
      continue;
    double across = lig_axis_place (axis, series->x[point]);
    double up = lig_axis_place (&self->frame.y, series->y[point]);
    if (across < axis->start)
      continue;
    lig_canvas_disc (self->canvas, across, up, 4.5, self->colours->card);
    lig_canvas_disc (self->canvas, across, up, 3.5, series_colour (self, series));
  }
  draw_read_out (self, at, x);
}

void
lig_draw_chart (
  LigCanvas *canvas, const LigColours *colours, const LigChart *chart, double width, double height)
{
  g_return_if_fail (canvas && colours && chart);
  Drawing self = {
    .canvas = canvas, .colours = colours, .chart = chart, .width = width, .height = height};
  gboolean any = lig_chart_set_x (chart, &self.frame.x, width);
  double top = draw_head (&self);
  self.frame.y.start = MAX (height - LIG_CHART_BOTTOM + (chart->x_label ? 0 : 16), top + 1);
  self.frame.y.end = top;
  if (!any) {
    draw_nothing (&self);
    return;
  }
  self.smooth = g_new0 (double *, MAX (chart->count, 1));
  for (guint i = 0; i < chart->count && chart->smoothing > 0; i++)
    self.smooth[i] = lig_chart_smooth (chart, &chart->series[i]);
  set_y (&self);
  draw_y_axis (&self);
  draw_x_axis (&self);
  lig_canvas_begin_clip (canvas, self.frame.x.start, self.frame.y.end - 1,
                         self.frame.x.end - self.frame.x.start + 1,
                         self.frame.y.start - self.frame.y.end + 2);
  for (guint i = 0; i < chart->count; i++)
    draw_series (&self, i);
  lig_canvas_end_clip (canvas);
  draw_cursor (&self);
  for (guint i = 0; i < chart->count; i++)
    g_free (self.smooth[i]);
  g_free (self.smooth);
}
