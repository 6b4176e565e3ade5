/* SPDX-License-Identifier: MIT */
/* The characters that stand for bytes in a byte-level vocabulary. */
#include "engine/text/byte-level.h"

#include <string.h>

/* Returns whether the byte's character is the one with its number in Latin-1. */
static gboolean
is_itself (guint byte)
{
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/* The other bytes in order: 0x00 to 0x20, 0x7f to 0xa0, and the soft hyphen 0xad. */
static gunichar
to_character (guint8 byte)
{
  if (is_itself (byte))
    return byte;
  return 0x100u + (byte <= 0x20 ? byte : byte == 0xad ? 67u : byte - 0x7fu + 33u);
}

/* Returns the byte of a character, or -1. */
static int
to_byte (gunichar character)
{
  if (character < 0x100)
    return is_itself (character) ? (int) character : -1;
  int n = (int) MIN (character - 0x100, 1000);
  return n <= 32 ? n : n < 67 ? n - 33 + 0x7f : n == 67 ? 0xad : -1;
}

void
lig_byte_level_write (guint8 byte, char text[8])
{
  text[g_unichar_to_utf8 (to_character (byte), text)] = '\0';
}

gboolean
lig_byte_level_read (const char *text, GByteArray *bytes)
{
  g_byte_array_set_size (bytes, 0);
  for (const char *at = text; *at; at = g_utf8_next_char (at)) {
    int byte = to_byte (g_utf8_get_char (at));
    if (byte < 0) {
      g_byte_array_set_size (bytes, 0);
      g_byte_array_append (bytes, (const guint8 *) text, (guint) strlen (text));
      return FALSE;
    }
    g_byte_array_append (bytes, &(guint8){(guint8) byte}, 1);
  }
  return TRUE;
}
