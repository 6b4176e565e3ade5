/* SPDX-License-Identifier: MIT */
/* The load of the experts of a mixture. */
#include <ligature/loads.h>

#include <math.h>

void
lig_load_series_free (LigLoadSeries *self)
{
  if (!self)
    return;
  g_free (self->path);
  g_array_unref (self->steps);
  g_array_unref (self->loads);
  g_array_unref (self->balance);
  g_array_unref (self->z);
  g_array_unref (self->dropped);
  g_free (self);
}

void
lig_load_measure (const double *load, guint experts, LigLoadFigures *figures)
{
  *figures = (LigLoadFigures){0};
  for (guint e = 0; e < experts; e++) {
    figures->rows += load[e];
    figures->idle += load[e] == 0;
    if (load[e] > load[figures->busiest])
      figures->busiest = e;
  }
  figures->imbalance = figures->rows > 0 ? load[figures->busiest] * experts / figures->rows : NAN;
}

void
lig_load_series_sum (
  const LigLoadSeries *self, guint first, guint count, double *load, LigLoadFigures *figures)
{
  guint steps = first < self->steps->len ? MIN (count, self->steps->len - first) : 0;
  for (guint e = 0; e < self->experts; e++) {
    load[e] = 0;
    for (guint i = first; i < first + steps; i++)
      load[e] += g_array_index (self->loads, double, i * self->experts + e);
  }
  if (!figures)
    return;
  lig_load_measure (load, self->experts, figures);
  for (guint i = first; i < first + steps; i++)
    figures->dropped += g_array_index (self->dropped, double, i);
}

double
lig_load_series_last (const GArray *values)
{
  return values->len > 0 ? g_array_index (values, double, values->len - 1) : NAN;
}
