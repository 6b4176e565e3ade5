/* SPDX-License-Identifier: MIT */
/* Checks and normalizes text that may have zero bytes, at which GLib's functions end. */
#include "engine/text/tokenizer-struct.h"

#include <string.h>

/* GLib moves the rest of the text for each character that it composes, and sorts marks in a time of
 * O(n²). So a text is normalized in parts of some hundred bytes, which end before a character that
 * is not joined with those before it; only within a run of some thousand marks a part ends
 * anywhere. */
#define PART 256
#define LONGEST_PART 4096

gsize
lig_tokenizer_check_utf8 (const char *text, gsize length)
{
  for (gsize at = 0; at < length; at++) { /* over a zero byte */
    const char *end;
    if (g_utf8_validate_len (text + at, length - at, &end))
      return length;
    at = (gsize) (end - text);
    if (text[at])
      return at;
  }
  return length;
}

static gboolean
is_ascii (const char *text, gsize length)
{
  gsize at = 0;
  while (at < length && (guint8) text[at] < 0x80)
    at++;
  return at == length;
}

/* Returns whether normalization never joins this character with those before it: it is not a mark,
 * nor a vowel or a final consonant of Hangul, nor a vowel of Kirat Rai. */
static gboolean
is_boundary (gunichar character)
{
  if (character < 0x300)
    return TRUE;
  return !g_unichar_ismark (character) && !(character >= 0x1160 && character <= 0x11ff) &&
         !(character >= 0x16d63 && character <= 0x16d6a) &&
         g_unichar_combining_class (character) == 0;
}

/* Returns the end of the part from `at` that is normalized by itself. A zero byte ends it, too. */
static gsize
find_part (const char *text, gsize at, gsize length)
{
  gsize end = at;
  for (; end < length && text[end]; end = (gsize) (g_utf8_next_char (text + end) - text))
    if (end - at >= LONGEST_PART ||
        (end - at >= PART && is_boundary (g_utf8_get_char (text + end))))
      break;
  return end;
}

char *
lig_tokenizer_compose (const char *text, gsize length, gsize *composed)
{
  if (is_ascii (text, length)) {
    *composed = length;
    return g_memdup2 (text, length);
  }
  GString *out = g_string_sized_new (length);
  for (gsize at = 0; at < length;) {
    gsize end = find_part (text, at, length);
    g_autofree char *normal = g_utf8_normalize (text + at, (gssize) (end - at), G_NORMALIZE_NFC);
    g_string_append (out, normal ? normal : "");
    at = end;
    if (at < length && !text[at]) {
      g_string_append_c (out, '\0');
      at++;
    }
  }
  *composed = out->len;
  return g_string_free (out, FALSE);
}
