/* SPDX-License-Identifier: MIT */
/* Escapes the characters of a text that a terminal would interpret as control codes. */
#include "engine/base/printable.h"

#include <ligature/printable.h>

#include <string.h>

/* Returns whether the character is an embedding, override or isolate, which would reorder the rest
 * of the line. */
static gboolean
turns_direction (gunichar character)
{
  return (character >= 0x202a && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

gboolean
lig_is_printable (gunichar character)
{
  GUnicodeType type = g_unichar_type (character);
  return type != G_UNICODE_CONTROL && type != G_UNICODE_LINE_SEPARATOR &&
         type != G_UNICODE_PARAGRAPH_SEPARATOR && !turns_direction (character);
}

static void
append_character (GString *to, gunichar character)
{
  if (character == '\n')
    g_string_append (to, "\\n");
  else if (character == '\t')
    g_string_append (to, "\\t");
  else if (g_unichar_type (character) == G_UNICODE_CONTROL)
    g_string_append_printf (to, "\\x%02x", character);
  else if (!lig_is_printable (character))
    g_string_append_printf (to, "\\u%04x", character);
  else
    g_string_append_unichar (to, character);
}

char *
lig_printable (const char *text)
{
  g_return_val_if_fail (text, NULL);
  GString *line = g_string_new (NULL);
  const char *end = text + strlen (text);
  while (text < end) {
    gunichar character = g_utf8_get_char_validated (text, end - text);
    if (character == (gunichar) -1 || character == (gunichar) -2) {
      g_string_append_printf (line, "\\x%02x", (guchar) *text++);
      continue;
    }
    append_character (line, character);
    text = g_utf8_next_char (text);
  }
  return g_string_free (line, FALSE);
}
