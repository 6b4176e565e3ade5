/* SPDX-License-Identifier: MIT */
/* Axes: round ticks, linear and logarithmic, and short numbers. */
#include "engine/draw/chart.h"
#include <ligature/draw.h>
#include <ligature/units.h>

#include <math.h>
#include <string.h>

/* --- Formatting numbers -------------------------------------------------------------------- */

/* Returns the digits without trailing zeros and with a typographic minus, followed by the unit. */
static char *
tidy (const char *digits, const char *unit)
{
  g_autofree char *text = g_strdup (digits);
  const char *sign = *text == '-' ? "−" : "", *start = text + (*text == '-');
  char *point = strchr (text, '.'), *power = strchr (text, 'e');
  if (point && !power) {
    char *end = text + strlen (text);
    while (end[-1] == '0')
      *--end = '\0';
    if (end[-1] == '.')
      *--end = '\0';
  }
  if (!power)
    return g_strconcat (sign, start, unit, NULL);
  *power = '\0';
  int exponent = (int) g_ascii_strtoll (power + 1, NULL, 10);
  return g_strdup_printf ("%s%se%d%s", sign, start, exponent, unit);
}

/* Never rounds away digits before the decimal point. */
char *
lig_draw_number (double value, int digits)
{
  static const char *const units[] = {"", "k", "M", "G", "T", "P"};
  char text[64], format[8];
  guint unit = 0;
  double size = fabs (value);
  if (!isfinite (value))
    return g_strdup (isnan (value) ? "–" : value < 0 ? "−∞" : "∞");
  if (size >= 9999.5)
    for (; size >= 999.5 && unit + 1 < G_N_ELEMENTS (units); size /= 1000)
      unit++;
  int whole = size >= 1 && size < 1e6 ? (int) floor (log10 (size)) + 1 : 1;
  g_snprintf (format, sizeof format, "%%.%dg", MAX (digits, whole));
  g_snprintf (text, sizeof text, format, unit > 0 ? copysign (size, value) : value);
  return tidy (text, units[unit]);
}

char *
lig_axis_trim (char *text)
{
  char *unit = strchr (text, ' '), *point = strpbrk (text, ".,");
  if (!unit || !point || point > unit)
    return text;
  char *end = unit;
  while (end[-1] == '0')
    end--;
  if (end - 1 == point)
    end--;
  memmove (end, unit, strlen (unit) + 1);
  return text;
}

char *
lig_draw_time (double seconds)
{
  return seconds <= 0 ? g_strdup ("0") : lig_units_time (seconds);
}

char *
lig_draw_bytes (double bytes)
{
  return bytes <= 0 ? g_strdup ("0") : lig_units_bytes (bytes);
}

/* --- Places -------------------------------------------------------------------------------- */

double
lig_axis_place (const LigAxis *axis, double value)
{
  if (axis->log)
    value = value > 0 ? log10 (value) : NAN;
  if (!isfinite (value) || !(axis->to > axis->from))
    return NAN;
  return axis->start + (value - axis->from) / (axis->to - axis->from) * (axis->end - axis->start);
}

double
lig_axis_value (const LigAxis *axis, double pixel)
{
  double value =
    axis->from + (pixel - axis->start) / (axis->end - axis->start) * (axis->to - axis->from);
  return axis->log ? pow (10, value) : value;
}

/* Limits the ends of an axis so that its width is finite. */
void
lig_axis_hold (LigAxis *axis)
{
  double max = axis->log ? 400 : 1e300;
  if (isnan (axis->from) || isnan (axis->to)) {
    axis->from = 0;
    axis->to = 1;
  }
  axis->from = CLAMP (axis->from, -max, max);
  axis->to = CLAMP (axis->to, -max, max);
}

/* --- Ticks --------------------------------------------------------------------------------- */

/* Returns 1, 2 or 5 times a power of ten that is at least @min. */
static double
round_step (double min)
{
  double power = pow (10, floor (log10 (min)));
  double share = min / power;
  return power * (share <= 1 + 1e-9 ? 1 : share <= 2 + 1e-9 ? 2 : share <= 5 + 1e-9 ? 5 : 10);
}

static double
find_step (const LigAxis *axis, double spacing)
{
  double count = MAX (fabs (axis->end - axis->start) / spacing, 1);
  return round_step ((axis->to - axis->from) / count);
}

static void
clear_tick (gpointer data)
{
  g_free (((LigAxisTick *) data)->label);
}

static void
append_tick (GArray *to, double value, char *label)
{
  LigAxisTick tick = {value, label};
  g_array_append_val (to, tick);
}

/* Returns the value with as many decimals as the step between two ticks has. */
static char *
label_tick (double value, double step)
{
  double size = MAX (fabs (value), step);
  if (size >= 9999.5 || size < 1e-3)
    return lig_draw_number (fabs (value) < step / 2 ? 0 : value,
                            (int) CLAMP (ceil (log10 (size / step)) + 1, 2, 6));
  char text[64], format[16];
  g_snprintf (format, sizeof format, "%%.%df", (int) MAX (-floor (log10 (step) + 1e-9), 0));
  g_snprintf (text, sizeof text, format, fabs (value) < step / 2 ? 0 : value);
  return *text == '-' ? g_strconcat ("−", text + 1, NULL) : g_strdup (text);
}

static void
append_linear (GArray *to, const LigAxis *axis, double spacing)
{
  double step = find_step (axis, spacing);
  if (!(step > 0) || !isfinite (step))
    return;
  for (double i = ceil (axis->from / step - 1e-6); i * step <= axis->to + step * 1e-6; i++) {
    append_tick (to, i * step, label_tick (i * step, step));
    if (to->len > 200)
      return;
  }
}

/* Appends a tick for each multiple of a power of ten if there is enough space, and labels powers of
 * ten, or every few of them; with enough space also 2 and 5 times a power. */
static void
append_powers (GArray *to, const LigAxis *axis, double spacing)
{
  double decades = axis->to - axis->from;
  double room = fabs (axis->end - axis->start) / MAX (decades, 1e-9);
  int every = (int) MAX (ceil (spacing * 0.6 / room), 1);
  for (int power = (int) floor (axis->from); power <= (int) ceil (axis->to); power++)
    for (int factor = 1; factor < 10; factor++) {
      double at = power + log10 (factor);
      gboolean named =
        factor == 1 ? power % every == 0 : (factor == 2 || factor == 5) && room > spacing * 2;
      if (at < axis->from - 1e-9 || at > axis->to + 1e-9 || (factor > 1 && room < 30))
        continue;
      double value = factor * pow (10, power);
      append_tick (to, value, named ? lig_draw_number (value, 3) : NULL);
    }
}

static guint
count_labels (GArray *ticks)
{
  guint count = 0;
  for (guint i = 0; i < ticks->len; i++)
    count += g_array_index (ticks, LigAxisTick, i).label != NULL;
  return count;
}

/* A logarithmic axis of less than a decade has the ticks of a linear one. */
static void
append_within_decade (GArray *to, const LigAxis *axis, double spacing)
{
  LigAxis linear = {pow (10, axis->from), pow (10, axis->to), axis->start, axis->end, FALSE};
  g_array_set_size (to, 0);
  append_linear (to, &linear, spacing);
}

GArray *
lig_axis_ticks (const LigAxis *whole, double spacing)
{
  LigAxis held = *whole, *axis = &held;
  lig_axis_hold (axis);
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (LigAxisTick));
  g_array_set_clear_func (ticks, clear_tick);
  if (!(axis->to > axis->from) || axis->start == axis->end)
    return ticks;
  if (!axis->log)
    append_linear (ticks, axis, spacing);
  else
    append_powers (ticks, axis, spacing);
  if (axis->log && count_labels (ticks) < 2)
    append_within_decade (ticks, axis, spacing);
  return ticks;
}

void
lig_axis_round (LigAxis *axis, double spacing)
{
  if (!(axis->from <= axis->to)) {
    axis->from = 0;
    axis->to = 1;
  }
  lig_axis_hold (axis);
  double width = axis->to - axis->from;
  if (width <= fabs (axis->to) * 1e-12) {
    double margin = axis->log ? 0.5 : axis->to != 0 ? fabs (axis->to) * 0.1 : 1;
    axis->from -= margin;
    axis->to += margin;
  } else if (axis->log) {
    axis->from -= width * 0.04;
    axis->to += width * 0.04;
  }
  if (axis->log)
    return;
  double step = find_step (axis, spacing);
  if (!(step > 0) || !isfinite (step))
    return;
  axis->from = floor (axis->from / step + 1e-9) * step;
  axis->to = ceil (axis->to / step - 1e-9) * step;
}
