/* SPDX-License-Identifier: MIT */
/* Curves that have grown are copied into columns of numbers. */
#include "ui/widgets/chart-data.h"

#include <math.h>

typedef struct {
  char *label;
  LigCurve *curve; /* null: the values are used directly */
  guint64 length;  /* of the curve when it was copied */
  double *values;  /* x, mean, min, max, `capacity` of each */
  guint count, capacity;
  gboolean banded; /* min and max differ somewhere */
  double *merged;  /* like the values, for drawing; null until needed */
} Series;

struct _LigChartData {
  GArray *series; /* of Series */
  GArray *drawn;  /* of LigChartSeries */
};

static void
clear_series (gpointer data)
{
  Series *series = data;
  g_clear_pointer (&series->curve, lig_curve_free);
  g_free (series->label);
  g_free (series->values);
  g_free (series->merged);
}

LigChartData *
lig_chart_data_new (void)
{
  LigChartData *self = g_new (LigChartData, 1);
  self->series = g_array_new (FALSE, TRUE, sizeof (Series));
  self->drawn = g_array_new (FALSE, TRUE, sizeof (LigChartSeries));
  g_array_set_clear_func (self->series, clear_series);
  return self;
}

void
lig_chart_data_free (LigChartData *self)
{
  g_array_unref (self->series);
  g_array_unref (self->drawn);
  g_free (self);
}

void
lig_chart_data_clear (LigChartData *self)
{
  g_array_set_size (self->series, 0);
}

guint
lig_chart_data_get_count (LigChartData *self)
{
  return self->series->len;
}

static void
reserve (Series *series, guint capacity)
{
  series->capacity = capacity;
  series->values = g_new (double, 4 * (gsize) capacity);
}

void
lig_chart_data_add_curve (LigChartData *self, const char *label, LigCurve *curve)
{
  Series series = {.label = g_strdup (label), .curve = lig_curve_ref (curve)};
  reserve (&series, LIG_CURVE_POINTS);
  g_array_append_val (self->series, series);
}

void
lig_chart_data_add_points (
  LigChartData *self, const char *label, const double *x, const double *y, guint count)
{
  Series series = {.label = g_strdup (label), .count = count};
  reserve (&series, MAX (count, 1));
  for (guint i = 0; i < count; i++) {
    series.values[i] = x[i];
    for (guint column = 1; column < 4; column++)
      series.values[column * series.capacity + i] = isfinite (y[i]) ? y[i] : NAN;
  }
  g_array_append_val (self->series, series);
}

static void
copy_curve (Series *series)
{
  if (!series->curve || series->length == lig_curve_get_length (series->curve))
    return;
  const LigCurvePoint *points = lig_curve_get_points (series->curve, &series->count);
  series->banded = series->count > 0 && points[0].count > 1;
  for (guint i = 0; i < series->count; i++) {
    series->values[i] = points[i].x;
    series->values[series->capacity + i] = points[i].mean;
    series->values[2 * series->capacity + i] = points[i].min;
    series->values[3 * series->capacity + i] = points[i].max;
  }
  series->length = lig_curve_get_length (series->curve);
}

/* --- For drawing ----------------------------------------------------------------------------- */

/* Returns the first point at or after x. */
static guint
find_point (const Series *series, double x)
{
  guint low = 0, high = series->count;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (series->values[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Merges the @count values from @first into one point, ignoring gaps. */
static void
merge_group (const Series *series, guint first, guint count, guint to)
{
  const double *y = series->values + series->capacity;
  double sum = 0, min = INFINITY, max = -INFINITY;
  guint values = 0;
  for (guint i = first; i < first + count; i++) {
    if (isnan (y[i]))
      continue;
    sum += y[i];
    values++;
    min = fmin (min, series->values[2 * series->capacity + i]);
    max = fmax (max, series->values[3 * series->capacity + i]);
  }
  series->merged[to] = series->values[first + count - 1];
  series->merged[series->capacity + to] = values > 0 ? sum / values : NAN;
  series->merged[2 * series->capacity + to] = values > 0 ? min : NAN;
  series->merged[3 * series->capacity + to] = values > 0 ? max : NAN;
}

/* Groups have a power of two of points, counted from the first point, so that a growing curve keeps
 * its shape. One group past each end is kept, so that lines continue to the edge. */
static guint
merge_shown (Series *series, double from, double to, guint max)
{
  guint first = isnan (from) ? 0 : find_point (series, from), each = 2, count = 0;
  guint end = isnan (to) ? series->count : find_point (series, to);
  if (max == 0 || end - first <= max)
    return 0;
  while ((end - first) / each > max)
    each *= 2;
  if (!series->merged)
    series->merged = g_new (double, 4 * (gsize) series->capacity);
  first = first / each > 0 ? (first / each - 1) * each : 0;
  end = MIN ((end / each + 2) * each, series->count);
  for (; first < end; first += each)
    merge_group (series, first, MIN (each, end - first), count++);
  return count;
}

gboolean
lig_chart_data_fill (LigChartData *self, LigChart *chart, guint max)
{
  g_array_set_size (self->drawn, 0);
  for (guint i = 0; i < self->series->len; i++) {
    Series *series = &g_array_index (self->series, Series, i);
    copy_curve (series);
    guint merged = merge_shown (series, chart->from, chart->to, max);
    const double *values = merged > 0 ? series->merged : series->values;
    gboolean banded = merged > 0 || series->banded;
    const LigChartSeries drawn = {.label = series->label,
                                  .x = values,
                                  .y = values + series->capacity,
                                  .min = banded ? values + 2 * series->capacity : NULL,
                                  .greatest = banded ? values + 3 * series->capacity : NULL,
                                  .count = merged > 0 ? merged : series->count,
                                  .colour = i % LIG_N_SERIES,
                                  .dashed = i / LIG_N_SERIES % 2 == 1};
    /* A curve without points is not in the legend, but keeps its colour. */
    if (series->count > 0)
      g_array_append_val (self->drawn, drawn);
  }
  chart->series = (const LigChartSeries *) (gpointer) self->drawn->data;
  chart->count = self->drawn->len;
  return self->drawn->len > 0;
}

/* --- For the cursor ------------------------------------------------------------------------ */

gboolean
lig_chart_data_get_ends (LigChartData *self, double *min, double *max)
{
  *min = INFINITY;
  *max = -INFINITY;
  for (guint i = 0; i < self->series->len; i++) {
    Series *series = &g_array_index (self->series, Series, i);
    copy_curve (series);
    if (series->count == 0)
      continue;
    *min = fmin (*min, series->values[0]);
    *max = fmax (*max, series->values[series->count - 1]);
  }
  return *min <= *max;
}

/* Returns the nearest x after @x in a direction; infinite if there is none. */
static double
find_next (LigChartData *self, double x, gboolean right)
{
  double best = right ? INFINITY : -INFINITY;
  for (guint i = 0; i < self->series->len; i++) {
    const Series *series = &g_array_index (self->series, Series, i);
    guint low = 0, high = series->count;
    while (low < high) {
      guint middle = low + (high - low) / 2;
      gboolean before = right ? series->values[middle] <= x : series->values[middle] < x;
      if (before)
        low = middle + 1;
      else
        high = middle;
    }
    if (right && low < series->count)
      best = fmin (best, series->values[low]);
    else if (!right && low > 0)
      best = fmax (best, series->values[low - 1]);
  }
  return best;
}

double
lig_chart_data_move (LigChartData *self, double x, int steps)
{
  double min, max;
  if (!lig_chart_data_get_ends (self, &min, &max))
    return NAN;
  if (isnan (x))
    return steps < 0 ? max : min;
  for (; steps != 0 && x >= min && x <= max; steps += steps < 0 ? 1 : -1)
    x = find_next (self, x, steps > 0);
  return CLAMP (x, min, max);
}
