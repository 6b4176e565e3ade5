/* SPDX-License-Identifier: MIT */
/* The characters that the vocabulary of GPT-2, and of all byte-level tokenizers since, writes for
 * bytes: printable Latin-1 characters for themselves, U+0100 and on for the others, so that a space
 * is `Ġ`. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Writes the character of a byte, in UTF-8 with a zero at its end. */
void lig_byte_level_write (guint8 byte, char text[8]);

/* Replaces the content of `bytes` by the bytes that a text in these characters means, or, if the
 * text (UTF-8) has any other character, by the text itself, and returns whether it has none. */
gboolean lig_byte_level_read (const char *text, GByteArray *bytes);

G_END_DECLS
