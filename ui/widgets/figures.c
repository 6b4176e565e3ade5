/* SPDX-License-Identifier: MIT */
/* Readable figures: three digits and a unit. */
#include "ui/widgets/figures.h"

#include <ligature/units.h>

#include <glib/gi18n.h>
#include <locale.h>
#include <math.h>
#include <string.h>

char *
lig_figure_bytes (double bytes)
{
  return lig_units_bytes (bytes);
}

char *
lig_figure_time (double seconds)
{
  if (isnan (seconds))
    return g_strdup ("");
  return seconds > 0 ? lig_units_time (seconds) : g_strdup ("0");
}

char *
lig_figure_excerpt (const char *text)
{
  enum { LONGEST = 500 };
  if (strlen (text) <= LONGEST || g_utf8_strlen (text, -1) <= LONGEST)
    return g_strdup (text);
  g_autofree char *start = g_utf8_substring (text, 0, LONGEST);
  return g_strconcat (start, "…", NULL);
}

char *
lig_figure_count (gint64 count)
{
  const char *point = localeconv ()->decimal_point, *between = localeconv ()->thousands_sep;
  g_autofree char *digits = g_strdup_printf ("%" G_GINT64_FORMAT, count);
  GString *text = g_string_new (NULL);
  gsize length = strlen (digits);
  if (!between || !*between || !g_utf8_validate (between, -1, NULL))
    between = g_str_equal (point, ",") ? "." : ",";
  for (gsize i = 0; i < length; i++) {
    if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
      g_string_append (text, between);
    g_string_append_c (text, digits[i]);
  }
  return g_string_free (text, FALSE);
}

char *
lig_figure_count_short (gint64 count)
{
  return lig_units_count ((double) count);
}

char *
lig_figure_shape (const LigShape *shape)
{
  if (shape->n_axes <= 0)
    return g_strdup (_ ("scalar"));
  GString *text = g_string_new (NULL);
  for (int i = 0; i < shape->n_axes; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? " × " : "",
                            (gint64) shape->axes[i]);
  return g_string_free (text, FALSE);
}

char *
lig_figure_tensor (const LigShape *shape, LigDtype dtype)
{
  g_autofree char *axes = lig_figure_shape (shape);
  return g_strdup_printf ("%s %s", axes, lig_dtype_name (dtype));
}

char *
lig_figure_ago (gint64 when)
{
  const gint64 minute = 60 * G_USEC_PER_SEC, hour = 60 * minute, day = 24 * hour;
  gint64 past = g_get_real_time () - when;
  if (past < minute)
    return g_strdup (_ ("just now"));
  int n = (int) (past < hour ? past / minute : past < day ? past / hour : MIN (past / day, 8));
  if (past < hour)
    return g_strdup_printf (ngettext ("%d minute ago", "%d minutes ago", n), n);
  if (past < day)
    return g_strdup_printf (ngettext ("%d hour ago", "%d hours ago", n), n);
  if (past < 7 * day)
    return g_strdup_printf (ngettext ("%d day ago", "%d days ago", n), n);
  /* Translators: a date in the form of strftime() */
  const char *format = _ ("%-d %b %Y");
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  char *text = moment ? g_date_time_format (moment, format) : NULL;
  return text ? text : g_strdup ("–");
}

char *
lig_figure_sentence (const char *message)
{
  g_autofree char *start = g_utf8_substring (message, 0, MIN (g_utf8_strlen (message, -1), 1));
  g_autofree char *capital = g_utf8_strup (start, -1);
  return g_strconcat (capital, message + strlen (start), NULL);
}
