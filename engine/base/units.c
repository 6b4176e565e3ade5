/* SPDX-License-Identifier: MIT */
/* Formats numbers with units for people. */
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
  /* %g would write thousands of the largest unit as a power of ten. */
  gboolean whole = (unit == 0 && value == floor (value)) || fabs (value) >= 999.5;
  const char *form = whole && fabs (value) < 1e6 ? "%.0f%s%s" : "%.3g%s%s";
  return g_strdup_printf (form, value, *units[unit] ? " " : "", units[unit]);
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
