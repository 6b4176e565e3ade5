/* SPDX-License-Identifier: MIT */
/* Formats numbers with units for people. */
#include "engine/base/units.h"

#include <ligature/units.h>

#include <math.h>

char *
lig_units_scale (double value, const char *const *units, guint count)
{
  guint unit = 0;
  if (!isfinite (value))
    return g_strdup (isnan (value) ? "-" : value < 0 ? "-∞" : "∞");
  while (unit + 1 < count && fabs (value) >= 999.5) {
    value /= 1000;
    unit++;
  }
  double size = fabs (value);
  /* Counts such as bytes are whole numbers in the first unit. */
  gboolean whole = unit == 0 && value == floor (value);
  int decimals = whole || size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  const char *gap = *units[unit] ? " " : "";
  /* Larger than the last unit. */
  if (size >= 999999.5 || (size > 0 && size < 0.0995))
    return g_strdup_printf ("%.3g%s%s", value, gap, units[unit]);
  return g_strdup_printf ("%.*f%s%s", decimals, value, gap, units[unit]);
}

char *
lig_units_bytes (double bytes)
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  return lig_units_scale (bytes, units, G_N_ELEMENTS (units));
}

char *
lig_units_count (double count)
{
  static const char *const units[] = {"", "k", "M", "G", "T", "P"};
  return lig_units_scale (count, units, G_N_ELEMENTS (units));
}

char *
lig_units_time (double seconds)
{
  static const char *const units[] = {"ns", "µs", "ms", "s"};
  return lig_units_scale (seconds * 1e9, units, G_N_ELEMENTS (units));
}
