/* SPDX-License-Identifier: MIT */
/* Curves are copied into columns of numbers when they have grown, never more than they hold. */
#include "ui/chart-data.h"

#include <math.h>

typedef struct {
  char *label;
  LigCurve *curve; /* null: the values are all there are */
  guint64 length;  /* of the curve when it was copied */
  double *values;  /* x, mean, least, greatest, `room` of each */
  guint count, room;
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

static void
make_room (Series *series, guint room)
{
  series->room = room;
  series->values = g_new (double, 4 * (gsize) room);
}

void
lig_chart_data_add_curve (LigChartData *self, const char *label, LigCurve *curve)
{
  Series series = {.label = g_strdup (label), .curve = lig_curve_ref (curve)};
  make_room (&series, LIG_CURVE_POINTS);
  g_array_append_val (self->series, series);
}

void
lig_chart_data_add_points (
  LigChartData *self, const char *label, const double *x, const double *y, guint count)
{
  Series series = {.label = g_strdup (label), .count = count};
  make_room (&series, MAX (count, 1));
  for (guint i = 0; i < count; i++) {
    series.values[i] = x[i];
    for (guint column = 1; column < 4; column++)
      series.values[column * series.room + i] = isfinite (y[i]) ? y[i] : NAN;
  }
  g_array_append_val (self->series, series);
}

static void
copy_curve (Series *series)
{
  if (!series->curve || series->length == lig_curve_get_length (series->curve))
    return;
  const LigCurvePoint *points = lig_curve_get_points (series->curve, &series->count);
  for (guint i = 0; i < series->count; i++) {
    series->values[i] = points[i].x;
    series->values[series->room + i] = points[i].mean;
    series->values[2 * series->room + i] = points[i].least;
    series->values[3 * series->room + i] = points[i].greatest;
  }
  series->length = lig_curve_get_length (series->curve);
}

gboolean
lig_chart_data_fill (LigChartData *self, LigChart *chart)
{
  gboolean any = FALSE;
  g_array_set_size (self->drawn, self->series->len);
  for (guint i = 0; i < self->series->len; i++) {
    Series *series = &g_array_index (self->series, Series, i);
    copy_curve (series);
    g_array_index (self->drawn, LigChartSeries, i) =
      (LigChartSeries){.label = series->label,
                       .x = series->values,
                       .y = series->values + series->room,
                       .least = series->values + 2 * series->room,
                       .greatest = series->values + 3 * series->room,
                       .count = series->count,
                       .colour = i % LIG_N_SERIES,
                       .dashed = i / LIG_N_SERIES % 2 == 1};
    any |= series->count > 0;
  }
  chart->series = (const LigChartSeries *) (gpointer) self->drawn->data;
  chart->count = self->drawn->len;
  return any;
}

gboolean
lig_chart_data_get_ends (LigChartData *self, double *least, double *greatest)
{
  *least = INFINITY;
  *greatest = -INFINITY;
  for (guint i = 0; i < self->series->len; i++) {
    Series *series = &g_array_index (self->series, Series, i);
    copy_curve (series);
    if (series->count == 0)
      continue;
    *least = fmin (*least, series->values[0]);
    *greatest = fmax (*greatest, series->values[series->count - 1]);
  }
  return *least <= *greatest;
}

/* The nearest x beyond @x in a direction; infinite where there is none. */
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
  double least, greatest;
  if (!lig_chart_data_get_ends (self, &least, &greatest))
    return NAN;
  if (isnan (x))
    return steps < 0 ? greatest : least;
  for (; steps != 0 && x >= least && x <= greatest; steps += steps < 0 ? 1 : -1)
    x = find_next (self, x, steps > 0);
  return CLAMP (x, least, greatest);
}
