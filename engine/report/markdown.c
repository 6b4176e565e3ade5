/* SPDX-License-Identifier: MIT */
/* Markdown: text that stays text, tables, code; and figures in units for people. */
#include "engine/report/markdown.h"

#include "engine/private/literal.h"

#include <math.h>
#include <string.h>

/* Valid UTF-8 on one line. */
static char *
clean (const char *text)
{
  char *valid = g_utf8_make_valid (text, -1);
  for (char *at = valid; *at; at++)
    if (g_ascii_iscntrl (*at))
      *at = ' ';
  return valid;
}

/* An underscore within a word is no emphasis, and brackets alone are no link: kernel names and
 * groups stay readable. */
static gboolean
has_meaning (const char *start, const char *at)
{
  if (*at == '_')
    return at == start || !g_ascii_isalnum (at[-1]) || !g_ascii_isalnum (at[1]);
  if (*at == ']')
    return at[1] == '(';
  return strchr ("\\`*<|~$&", *at) != NULL;
}

void
lig_markdown_text (GString *to, const char *text)
{
  g_autofree char *line = clean (text);
  for (const char *at = line; *at; at++) {
    if (has_meaning (line, at))
      g_string_append_c (to, '\\');
    g_string_append_c (to, *at);
  }
}

/* The longest run of backticks; a fence has to be longer. */
static guint
count_ticks (const char *text)
{
  guint most = 0, count = 0;
  for (const char *at = text; *at; at++) {
    count = *at == '`' ? count + 1 : 0;
    most = MAX (most, count);
  }
  return most;
}

void
lig_markdown_code (GString *to, const char *text)
{
  g_autofree char *line = clean (text);
  g_autofree char *fence = g_strnfill (count_ticks (line) + 1, '`');
  const char *space = *line == '`' || g_str_has_suffix (line, "`") ? " " : "";
  g_string_append_printf (to, "%s%s%s%s%s", fence, space, line, space, fence);
}

void
lig_markdown_block (GString *to, const char *language, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *fence = g_strnfill (MAX (count_ticks (valid) + 1, 3), '`');
  g_string_append_printf (to, "%s%s\n%s%s%s\n\n", fence, language, valid,
                          g_str_has_suffix (valid, "\n") ? "" : "\n", fence);
}

void
lig_markdown_heading (GString *to, const char *text)
{
  g_string_append_printf (to, "%s## %s\n\n", g_str_has_suffix (to->str, "\n\n") ? "" : "\n", text);
}

void
lig_markdown_head (GString *to, const char *columns)
{
  g_auto (GStrv) names = g_strsplit (columns, "|", -1);
  for (char **name = names; *name; name++)
    g_string_append_printf (to, "| %s ", *name + (**name == '>'));
  g_string_append (to, "|\n");
  for (char **name = names; *name; name++)
    g_string_append (to, **name == '>' ? "| ---: " : "| --- ");
  g_string_append (to, "|\n");
}

void
lig_markdown_row (GString *to, ...)
{
  va_list cells;
  va_start (cells, to);
  for (const char *cell = va_arg (cells, const char *); cell; cell = va_arg (cells, const char *)) {
    g_string_append (to, "| ");
    lig_markdown_text (to, cell);
    g_string_append_c (to, ' ');
  }
  va_end (cells);
  g_string_append (to, "|\n");
}

void
lig_markdown_fact (GString *to, const char *name, const char *value)
{
  if (value && *value)
    lig_markdown_row (to, name, value, NULL);
}

static char *
scale (double value, const char *const *units, int count)
{
  int unit = 0;
  while (unit + 1 < count && fabs (value) >= 999.5) {
    value /= 1000;
    unit++;
  }
  return g_strdup_printf (unit == 0 && value == floor (value) ? "%.0f%s" : "%.3g%s", value,
                          units[unit]);
}

char *
lig_report_bytes (double bytes)
{
  static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB"};
  return scale (bytes, units, G_N_ELEMENTS (units));
}

char *
lig_report_count (double count)
{
  static const char *const units[] = {"", " k", " M", " G", " T", " P"};
  return scale (count, units, G_N_ELEMENTS (units));
}

char *
lig_report_number (double value)
{
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.6g", value);
}

char *
lig_report_indexes (int first, int count)
{
  return count > 1 ? g_strdup_printf ("%d to %d", first, first + count - 1)
                   : g_strdup_printf ("%d", first);
}

char *
lig_report_tensor (const LigShape *shape, LigDtype dtype)
{
  g_autofree char *text = lig_shape_to_string (shape);
  return g_strconcat (text, " ", lig_dtype_name (dtype), NULL);
}

char *
lig_report_shorten (const char *text)
{
  g_autofree char *line = clean (text);
  if (g_utf8_strlen (line, -1) <= 80)
    return g_steal_pointer (&line);
  g_autofree char *start = g_utf8_substring (line, 0, 79);
  return g_strconcat (start, "…", NULL);
}
