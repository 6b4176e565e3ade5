/* SPDX-License-Identifier: MIT */
/* Measures, elides and wraps text by the columns that a terminal shows. */
#include <ligature/columns.h>

#include <string.h>

static int
character_width (gunichar character)
{
  if (g_unichar_iszerowidth (character))
    return 0;
  return g_unichar_iswide (character) ? 2 : 1;
}

int
lig_columns_width (const char *text)
{
  int width = 0;
  for (; *text; text = g_utf8_next_char (text))
    width += character_width (g_utf8_get_char (text));
  return width;
}

/* Returns the end of the longest prefix that fits the width, including the marks that combine with
 * its last character. */
static const char *
find_end (const char *text, int width)
{
  for (; *text; text = g_utf8_next_char (text)) {
    width -= character_width (g_utf8_get_char (text));
    if (width < 0)
      break;
  }
  return text;
}

/* Returns the start of the longest suffix that fits the width. It does not start with a mark, which
 * would combine with the character before it. */
static const char *
find_begin (const char *text, int width)
{
  const char *begin = text + strlen (text);
  for (const char *at = begin; at > text;) {
    at = g_utf8_prev_char (at);
    int size = character_width (g_utf8_get_char (at));
    width -= size;
    if (width < 0)
      break;
    if (size > 0)
      begin = at;
  }
  return begin;
}

char *
lig_columns_elide (const char *text, int width)
{
  if (lig_columns_width (text) <= width)
    return g_strdup (text);
  if (width <= 1)
    return g_strdup (width == 1 ? "…" : "");
  int before = width / 2;
  const char *end = find_end (text, before), *begin = find_begin (text, width - 1 - before);
  g_autofree char *first = g_strndup (text, (gsize) (end - text));
  return g_strconcat (first, "…", begin, NULL);
}

void
lig_columns_append (GString *to, const char *text, int width, LigSide side)
{
  g_autofree char *fitting = lig_columns_elide (text, width);
  int rest = MAX (width - lig_columns_width (fitting), 0);
  g_string_append_printf (to, "%*s%s%*s", side == LIG_SIDE_RIGHT ? rest : 0, "", fitting,
                          side == LIG_SIDE_LEFT ? rest : 0, "");
}

/* Appends a word that is longer than a line, broken where each line is full. Returns the columns of
 * the last line. */
static int
append_broken (GString *to, const char *word, int at, int indent, int width)
{
  while (lig_columns_width (word) > width - at) {
    const char *end = find_end (word, MAX (width - at, 1));
    end = end == word ? g_utf8_next_char (word) : end;
    g_string_append_len (to, word, end - word);
    g_string_append_printf (to, "\n%*s", indent, "");
    word = end;
    at = indent;
  }
  g_string_append (to, word);
  return at + lig_columns_width (word);
}

/* Returns whether a line must not end with the word: a number stays with its unit. */
static gboolean
is_glued (const char *word, const char *next)
{
  gsize length = strlen (word);
  gboolean number = length > 0 && g_ascii_isdigit (word[length - 1]);
  return next && (g_str_equal (word, "≈") || (number && lig_columns_width (next) <= 3));
}

void
lig_columns_wrap (GString *to, const char *text, int at, int indent, int width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  width = MAX (width, indent + 8);
  for (guint i = 0; words[i]; i++) {
    int size = lig_columns_width (words[i]);
    for (guint k = i; words[k + 1] && is_glued (words[k], words[k + 1]); k++)
      size += 1 + lig_columns_width (words[k + 1]);
    gboolean fits = at + (i > 0) + size <= width;
    if (i > 0 && !fits) {
      g_string_append_printf (to, "\n%*s", indent, "");
      at = indent;
    } else if (i > 0) {
      g_string_append_c (to, ' ');
      at++;
    }
    at = append_broken (to, words[i], at, indent, width);
  }
  g_string_append_c (to, '\n');
}
