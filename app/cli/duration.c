/* SPDX-License-Identifier: MIT */
#include "app/cli/duration.h"

#include <ligature/units.h>

#include <math.h>
#include <string.h>

char *
lig_cli_format_time (double seconds)
{
  if (seconds >= 3600 && seconds < 1e12)
    return g_strdup_printf ("%.0f h %02d min", floor (seconds / 3600),
                            (int) (fmod (seconds, 3600) / 60));
  if (seconds >= 60 && seconds < 3600)
    return g_strdup_printf ("%d:%02d", (int) seconds / 60, (int) seconds % 60);
  return lig_units_time (seconds);
}

char *
lig_cli_format_left (double seconds)
{
  return seconds < 59.5 ? g_strdup_printf ("%.0f s", ceil (seconds))
                        : lig_cli_format_time (seconds);
}

char *
lig_cli_format_range (double from, double to)
{
  g_autofree char *lower = lig_cli_format_time (from), *upper = lig_cli_format_time (to);
  const char *unit = strchr (lower, ' '), *other = strchr (upper, ' ');
  if (unit && g_strcmp0 (unit, other) == 0)
    lower[unit - lower] = '\0';
  return g_strdup_printf ("%s to %s", lower, upper);
}
