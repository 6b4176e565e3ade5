/* SPDX-License-Identifier: MIT */
/* Breaks text into the lines of a terminal. */
#include "app/cli/wrap.h"

#include <string.h>

static void
append_spaces (GString *to, int count)
{
  for (int i = 0; i < count; i++)
    g_string_append_c (to, ' ');
}

void
lig_cli_append_wrapped (GString *to, const char *text, int column, int indent, int width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  gboolean first = TRUE;
  for (char **word = words; *word; word++) {
    int length = (int) g_utf8_strlen (*word, -1);
    if (!first && column + 1 + length > width) {
      g_string_append_c (to, '\n');
      append_spaces (to, indent);
      column = indent;
    } else if (!first) {
      g_string_append_c (to, ' ');
      column++;
    }
    g_string_append (to, *word);
    column += length;
    first = FALSE;
  }
}

/* Returns the byte offset of a line's second column, or of its first word. */
static gsize
find_column (const char *line)
{
  gsize start = strspn (line, " ");
  const char *gap = strstr (line + start, "  ");
  return gap ? (gsize) (gap - line) + strspn (gap, " ") : start;
}

static void
append_line (GString *to, const char *line, int width)
{
  gsize begin = strspn (line, " "), start = find_column (line);
  int column = (int) g_utf8_strlen (line, (gssize) start);
  gboolean columns = column <= width * 5 / 8;
  int indent = columns ? column : MAX ((int) begin, 4);
  if (!columns) {
    start = begin;
    column = (int) begin;
  }
  g_string_append_len (to, line, (gssize) start);
  lig_cli_append_wrapped (to, line + start, column, indent, width);
}

void
lig_cli_append_lines (GString *to, const char *text, int width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++) {
    append_line (to, *line, width);
    if (line[1])
      g_string_append_c (to, '\n');
  }
}

/* Returns the width of an unbreakable word: an option includes its value. */
static int
measure_word (char **word, gboolean quoted, int max)
{
  int length = (int) g_utf8_strlen (*word, -1);
  if (quoted || **word != '-' || !word[1] || *word[1] == '-')
    return length;
  int both = length + 1 + (int) g_utf8_strlen (word[1], -1) + (word[2] ? 2 : 0);
  return both <= max ? both : length;
}

void
lig_cli_append_shell (GString *to, const char *line, int indent, int width)
{
  int column = indent;
  gboolean quoted = FALSE;
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  append_spaces (to, indent);
  for (char **word = words; *word; word++) {
    int length = (int) g_utf8_strlen (*word, -1);
    /* Within quotes a line may only end between two ops. Other lines end with a backslash, except
     * the last. */
    gboolean fixed = word > words && quoted && strcmp (word[-1], "!") != 0;
    int needed = measure_word (word, quoted, width - indent - 2);
    if (word > words && !fixed && column + 1 + needed + (word[1] ? 2 : 0) > width) {
      g_string_append (to, quoted ? "\n" : " \\\n");
      append_spaces (to, indent + 2);
      column = indent + 2;
    } else if (word > words) {
      g_string_append_c (to, ' ');
      column++;
    }
    g_string_append (to, *word);
    column += length;
    for (const char *at = *word; *at; at++)
      quoted ^= *at == '\'';
  }
}
