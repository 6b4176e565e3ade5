/* SPDX-License-Identifier: MIT */
/* Reports in Markdown, in the dialect of GitHub and most other readers. */
#include "engine/report/paper-kinds.h"
#include "engine/report/texts.h"

#include <math.h>
#include <string.h>

/* Returns whether a character would be markup. Underscores within words and plain brackets are not,
 * and remain unescaped, so that the names of kernels and groups are readable. */
static gboolean
has_meaning (const char *start, const char *at)
{
  if (*at == '_')
    return at == start || !g_ascii_isalnum (at[-1]) || !g_ascii_isalnum (at[1]);
  if (*at == ']')
    return at[1] == '(';
  return strchr ("\\`*<|~$&", *at) != NULL;
}

/* Appends the text on one line with all markup escaped. */
static void
append_text (GString *to, const char *text)
{
  g_autofree char *line = lig_report_line (text);
  for (const char *at = line; *at; at++) {
    if (has_meaning (line, at))
      g_string_append_c (to, '\\');
    g_string_append_c (to, *at);
  }
}

/* Returns the length of the longest run of backticks, because the fence of a code block must be
 * longer. */
static guint
count_ticks (const char *text)
{
  guint max = 0, count = 0;
  for (const char *at = text; *at; at++) {
    count = *at == '`' ? count + 1 : 0;
    max = MAX (max, count);
  }
  return max;
}

static void
begin (GString *to)
{
  if (to->len > 0 && !g_str_has_suffix (to->str, "\n\n"))
    g_string_append_c (to, '\n');
}

void
lig_markdown_title (GString *to, const char *kind, const char *text)
{
  g_string_append_printf (to, "# %s: ", kind);
  append_text (to, text);
  g_string_append (to, "\n\n");
}

void
lig_markdown_heading (GString *to, const char *text)
{
  begin (to);
  g_string_append_printf (to, "## %s\n\n", text);
}

void
lig_markdown_say (GString *to, const char *text)
{
  begin (to);
  g_string_append_printf (to, "%s\n\n", text);
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
lig_markdown_head (GString *to, char *const *names)
{
  for (char *const *name = names; *name; name++)
    g_string_append_printf (to, "| %s ", *name + (**name == '>'));
  g_string_append (to, "|\n");
  for (char *const *name = names; *name; name++)
    g_string_append (to, **name == '>' ? "| ---: " : "| --- ");
  g_string_append (to, "|\n");
}

void
lig_markdown_row (GString *to, const char *const *cells)
{
  for (; *cells; cells++) {
    g_string_append (to, "| ");
    append_text (to, *cells);
    g_string_append_c (to, ' ');
  }
  g_string_append (to, "|\n");
}
