/* SPDX-License-Identifier: MIT */
/* Decodes tokens, all at once or one by one. */
#include "engine/text/tokenizer-struct.h"

#include <string.h>

struct LigTokenDecoder {
  LigTokenizer *tokenizer;
  gboolean special;
  GByteArray *kept; /* the start of a character */
};

/* Returns how many bytes from `at` belong to one character, or begin one that the next byte does
 * not continue; `need` is the length of the whole character, 0 for a byte that begins none. Table
 * 3-7 of the Unicode standard restricts the second byte. */
static gsize
measure (const guint8 *at, gsize left, gsize *need)
{
  guint8 low = 0x80, high = 0xbf;
  *need = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
  if (*at == 0xe0)
    low = 0xa0;
  else if (*at == 0xf0)
    low = 0x90;
  else if (*at == 0xed)
    high = 0x9f;
  else if (*at == 0xf4)
    high = 0x8f;
  gsize n = 1;
  for (; n < *need && n < left && at[n] >= low && at[n] <= high; n++) {
    low = 0x80;
    high = 0xbf;
  }
  return n;
}

/* Appends the characters of the bytes, and U+FFFD for each start of a character that is not
 * completed: the standard recommends one for each. Returns the number of bytes at the end that
 * begin a character, unless nothing follows them. */
static gsize
append_valid (GString *text, const guint8 *bytes, gsize length, gboolean ends)
{
  for (gsize at = 0; at < length;) {
    gsize need, n = measure (bytes + at, length - at, &need);
    if (n < need && at + n == length && !ends)
      return n;
    if (n == need)
      g_string_append_len (text, (const char *) bytes + at, (gssize) n);
    else
      g_string_append (text, "\xef\xbf\xbd");
    at += n;
  }
  return 0;
}

static void
append_token (GByteArray *bytes, const LigTokenizer *tokenizer, gint32 token, gboolean special)
{
  const LigTokenEntry *entry = lig_token_table_get (&tokenizer->table, token);
  if (entry && (special || !entry->special))
    g_byte_array_append (bytes, tokenizer->table.bytes->data + entry->at, entry->length);
}

static char *
end_text (GString *text, gsize *length)
{
  if (length)
    *length = text->len;
  return g_string_free (text, FALSE);
}

char *
lig_tokenizer_decode (
  LigTokenizer *self, const gint32 *tokens, gsize n_tokens, gboolean special, gsize *length)
{
  g_autoptr (LigTokenDecoder) decoder = lig_token_decoder_new (self, special);
  GString *text = g_string_new (NULL);
  for (gsize i = 0; i < n_tokens; i++) {
    append_token (decoder->kept, self, tokens[i], special);
    gsize left = append_valid (text, decoder->kept->data, decoder->kept->len, i + 1 == n_tokens);
    g_byte_array_remove_range (decoder->kept, 0, decoder->kept->len - (guint) left);
  }
  return end_text (text, length);
}

LigTokenDecoder *
lig_token_decoder_new (LigTokenizer *tokenizer, gboolean special)
{
  g_return_val_if_fail (tokenizer, NULL);
  LigTokenDecoder *self = g_atomic_rc_box_new0 (LigTokenDecoder);
  self->tokenizer = lig_tokenizer_ref (tokenizer);
  self->special = special;
  self->kept = g_byte_array_new ();
  return self;
}

static void
clear (gpointer data)
{
  LigTokenDecoder *self = data;
  lig_tokenizer_unref (self->tokenizer);
  g_byte_array_unref (self->kept);
}

void
lig_token_decoder_free (LigTokenDecoder *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigTokenDecoder,
                     lig_token_decoder,
                     g_atomic_rc_box_acquire,
                     lig_token_decoder_free)

/* Returns the text of the kept bytes, except for those that begin a character. */
static char *
take (LigTokenDecoder *self, gboolean ends, gsize *length)
{
  GString *text = g_string_new (NULL);
  gsize left = append_valid (text, self->kept->data, self->kept->len, ends);
  g_byte_array_remove_range (self->kept, 0, self->kept->len - (guint) left);
  return end_text (text, length);
}

char *
lig_token_decoder_next (LigTokenDecoder *self, gint32 token, gsize *length)
{
  g_return_val_if_fail (self, NULL);
  append_token (self->kept, self->tokenizer, token, self->special);
  return take (self, FALSE, length);
}

char *
lig_token_decoder_finish (LigTokenDecoder *self, gsize *length)
{
  g_return_val_if_fail (self, NULL);
  return take (self, TRUE, length);
}
