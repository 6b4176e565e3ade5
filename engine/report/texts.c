/* SPDX-License-Identifier: MIT */
#include "engine/report/texts.h"

#include "engine/base/printable.h"
#include <ligature/printable.h>

#include <glib/gi18n-lib.h>
#include <math.h>

char *
lig_report_line (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *line = g_string_new (NULL);
  for (const char *at = valid; *at; at = g_utf8_next_char (at)) {
    gunichar character = g_utf8_get_char (at);
    g_string_append_unichar (line, lig_is_printable (character) ? character : ' ');
  }
  return g_string_free (line, FALSE);
}

char *
lig_report_number (double value)
{
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.6g", value);
}

char *
lig_report_paths (LigPlan *plan, int first, int count)
{
  guint n_ops = 0;
  int last = first + MAX (count, 1) - 1;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &n_ops) : NULL;
  if (first < 0 || last < first || (guint) last >= n_ops)
    return last > first ? g_strdup_printf (_ ("ops %d to %d"), first, last)
                        : g_strdup_printf (_ ("op %d"), first);
  const char *from = ops[first].path, *to = ops[last].path;
  return g_str_equal (from, to) ? g_strdup (from) : g_strdup_printf (_ ("%s to %s"), from, to);
}

char *
lig_report_tensor (const LigShape *shape, LigDtype dtype)
{
  g_autofree char *text = lig_shape_to_string (shape);
  return g_strconcat (text, " ", lig_dtype_name (dtype), NULL);
}

char *
lig_report_size (guint ops, guint steps)
{
  g_autofree char *first =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%u op", "%u ops", ops), ops);
  g_autofree char *last =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%u step", "%u steps", steps), steps);
  return g_strconcat (first, ", ", last, NULL);
}

char *
lig_report_shorten (const char *text)
{
  g_autofree char *line = lig_report_line (text);
  if (g_utf8_strlen (line, -1) <= 80)
    return g_steal_pointer (&line);
  g_autofree char *start = g_utf8_substring (line, 0, 79);
  return g_strconcat (start, "…", NULL);
}

char *
lig_report_name_sequence (LigSequence *sequence)
{
  const char *name = lig_sequence_get_name (sequence);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  return lig_report_shorten (name && *name ? name : expression);
}
