/* SPDX-License-Identifier: MIT */
/* The values of charts: ranges, smoothing, the read-out under a pointer, CSV. */
#include "engine/draw/chart.h"
#include <ligature/csv.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* --- The axis of x ------------------------------------------------------------------------- */

static void
widen (LigAxis *axis, double value)
{
  if (!isfinite (value) || (axis->log && value <= 0))
    return;
  value = axis->log ? log10 (value) : value;
  axis->from = MIN (axis->from, value);
  axis->to = MAX (axis->to, value);
}

static double
to_axis (const LigAxis *axis, double value)
{
  return !axis->log ? value : value > 0 ? log10 (value) : NAN;
}

gboolean
lig_chart_set_x (const LigChart *chart, LigAxis *x, double width)
{
  *x = (LigAxis){.from = INFINITY,
                 .to = -INFINITY,
                 .start = LIG_CHART_LEFT,
                 .end = MAX (width - LIG_CHART_RIGHT, LIG_CHART_LEFT + 1),
                 .log = chart->log_x};
  for (guint i = 0; i < chart->count; i++)
    for (guint j = 0; j < chart->series[i].count; j++)
      widen (x, chart->series[i].x[j]);
  gboolean any = x->from <= x->to;
  double from = to_axis (x, chart->from), to = to_axis (x, chart->to);
  x->from = isfinite (from) ? from : x->from;
  x->to = isfinite (to) ? to : x->to;
  if (!(x->from <= x->to)) {
    x->from = 0;
    x->to = 1;
  }
  lig_axis_hold (x);
  if (!(x->to - x->from > fabs (x->to) * 1e-12)) {
    x->from -= x->log ? 0.5 : MAX (fabs (x->to) * 0.05, 0.5);
    x->to += x->log ? 0.5 : MAX (fabs (x->to) * 0.05, 0.5);
  }
  return any;
}

double
lig_chart_find_x (const LigChart *chart, double width, double height, double pixel)
{
  LigAxis axis;
  g_return_val_if_fail (chart, NAN);
  if (!lig_chart_set_x (chart, &axis, width) || pixel < axis.start || pixel > axis.end)
    return NAN;
  return lig_axis_value (&axis, pixel);
}

/* --- Curves -------------------------------------------------------------------------------- */

/* Returns the mean distance between neighbouring points. */
static double
get_spacing (const LigChartSeries *series)
{
  guint last = series->count - 1;
  return series->count > 1 ? (series->x[last] - series->x[0]) / last : INFINITY;
}

/* Returns a bias-corrected exponential moving average; NaNs and infinities are skipped. The decay
 * depends on the distance on the x axis, so that a sparse curve next to a dense one is hardly
 * smoothed.
 */
double *
lig_chart_smooth (const LigChart *chart, const LigChartSeries *series)
{
  double *smooth = g_new (double, MAX (series->count, 1)), mean = 0, sum = 0, unit = INFINITY;
  for (guint i = 0; i < chart->count; i++)
    unit = MIN (unit, get_spacing (&chart->series[i]));
  double away = get_spacing (series) / unit;
  double keep = pow (CLAMP (chart->smoothing, 0, 0.999), away >= 1 ? away : 1);
  for (guint i = 0; i < series->count; i++) {
    smooth[i] = series->y[i];
    if (!isfinite (series->y[i]))
      continue;
    mean = keep * mean + (1 - keep) * series->y[i];
    sum = keep * sum + (1 - keep);
    smooth[i] = mean / sum;
  }
  return smooth;
}

/* Returns the number of points at or before x. */
static guint
count_until (const LigChartSeries *series, double x)
{
  guint low = 0, high = series->count;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (series->x[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A curve has no value farther past its last point than the mean distance of its points. */
int
lig_chart_find_point (const LigChartSeries *series, double x)
{
  guint count = count_until (series, x);
  if (count == 0)
    return -1;
  guint last = series->count - 1;
  double apart = last > 0 ? get_spacing (series) : 0;
  return count == series->count && x > series->x[last] + apart ? -1 : (int) count - 1;
}

double
lig_chart_nearest_x (const LigChart *chart, double x)
{
  double nearest = NAN;
  for (guint i = 0; i < chart->count; i++) {
    const LigChartSeries *series = &chart->series[i];
    guint after = count_until (series, x);
    for (guint j = MAX (after, 1) - 1; j < MIN (after + 1, series->count); j++)
      if (isnan (nearest) || fabs (series->x[j] - x) < fabs (nearest - x))
        nearest = series->x[j];
  }
  return nearest;
}

char *
lig_chart_read_out (const LigChart *chart, double x)
{
  g_return_val_if_fail (chart, NULL);
  double at = isfinite (x) ? lig_chart_nearest_x (chart, x) : NAN;
  if (!isfinite (at))
    return NULL;
  g_autofree char *number =
    at == floor (at) && fabs (at) < 1e15 ? g_strdup_printf ("%.0f", at) : lig_draw_number (at, 5);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s %s", chart->x_label ? chart->x_label : _ ("at"), number);
  for (guint i = 0; i < chart->count; i++) {
    int point = lig_chart_find_point (&chart->series[i], at);
    if (point < 0)
      continue;
    g_autofree char *value = lig_draw_number (chart->series[i].y[point], 4);
    g_string_append_printf (text, " · %s %s", chart->series[i].label ? chart->series[i].label : "",
                            value);
  }
  return g_string_free (text, FALSE);
}

/* --- CSV ----------------------------------------------------------------------------------- */

/* Returns the smallest x among the points that are not written yet, NaN after the last. */
static double
next_x (const LigChart *chart, const guint *at)
{
  double next = NAN;
  for (guint i = 0; i < chart->count; i++)
    if (at[i] < chart->series[i].count && !(chart->series[i].x[at[i]] >= next))
      next = chart->series[i].x[at[i]];
  return next;
}

/* Appends a line with the next point of each curve that has one at this x. */
static void
append_line (GString *to, const LigChart *chart, guint *at, double x)
{
  lig_csv_append_number (to, x);
  for (guint i = 0; i < chart->count; i++) {
    const LigChartSeries *series = &chart->series[i];
    g_string_append_c (to, ',');
    if (at[i] < series->count && series->x[at[i]] == x)
      lig_csv_append_number (to, series->y[at[i]++]);
  }
  g_string_append_c (to, '\n');
}

char *
lig_chart_to_csv (const LigChart *chart)
{
  g_return_val_if_fail (chart, NULL);
  g_autofree guint *at = g_new0 (guint, MAX (chart->count, 1));
  GString *text = g_string_new (NULL);
  lig_csv_append_text (text, chart->x_label ? chart->x_label : "x");
  for (guint i = 0; i < chart->count; i++) {
    g_string_append_c (text, ',');
    lig_csv_append_text (text, chart->series[i].label ? chart->series[i].label : "");
  }
  g_string_append_c (text, '\n');
  for (double x; !isnan (x = next_x (chart, at));)
    append_line (text, chart, at, x);
  return g_string_free (text, FALSE);
}
