/* SPDX-License-Identifier: MIT */
/* Reads gpt2_tokenizer.bin of llm.c: a header of 256 little-endian numbers, then the length of each
 * token in one byte and its bytes. */
#include "engine/base/file.h"
#include "engine/text/tokenizer-struct.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAGIC 20240328
#define HEADER (256 * 4)
/* Version 1 has no number for it; the vocabulary of GPT-2 ends with it. */
#define GPT2_SIZE 50257
#define END_OF_TEXT "<|endoftext|>"

static guint32
read_number (const guint8 *content, guint n)
{
  guint32 number;
  memcpy (&number, content + 4 * (gsize) n, sizeof number);
  return GUINT32_FROM_LE (number);
}

gboolean
lig_tokenizer_is_llm_c (const guint8 *content, gsize length)
{
  return length >= 4 && read_number (content, 0) == MAGIC;
}

static gboolean reject (LigTokenizer *self, GError **error, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

static gboolean
reject (LigTokenizer *self, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", self->name, what);
  return FALSE;
}

static gboolean
read_tokens (
  LigTokenizer *self, const guint8 *content, gsize length, gint32 n_tokens, GError **error)
{
  gsize at = HEADER;
  for (gint32 token = 0; token < n_tokens; token++) {
    gsize left = length - at, size = left > 0 ? content[at] : 0;
    if (left < size + 1)
      return reject (self, error,
                     _ ("it is cut off at byte %zu, in token %d of %d; get the file again"), length,
                     token, n_tokens);
    lig_token_table_add (&self->table, token, content + at + 1, size);
    at += size + 1;
  }
  if (at < length)
    return reject (self, error, _ ("its tokens end at byte %zu, but it ends at byte %zu"), at,
                   length);
  return TRUE;
}

gboolean
lig_tokenizer_read_llm_c (LigTokenizer *self, const guint8 *content, gsize length, GError **error)
{
  self->kind = LIG_TOKENIZER_DECODES;
  if (length < HEADER)
    return reject (self, error,
                   _ ("it is cut off at byte %zu of %d of its header; get the file again"), length,
                   HEADER);
  guint32 version = read_number (content, 1), size = read_number (content, 2);
  if (version != 1 && version != 2)
    return reject (self, error, _ ("its version is %u, expected 1 or 2"), version);
  if (size < 1 || size > LIG_MAX_TOKENS)
    return reject (self, error, _ ("its number of tokens is %u, expected 1 to %d"), size,
                   LIG_MAX_TOKENS);
  if (!read_tokens (self, content, length, (gint32) size, error))
    return FALSE;
  guint32 end = version == 2 ? read_number (content, 3) : GPT2_SIZE - 1;
  if (version == 2 && end >= size)
    return reject (self, error, _ ("its end of text is token %u, expected 0 to %u"), end, size - 1);
  const LigTokenEntry *entry =
    version == 2 || size == GPT2_SIZE ? lig_token_table_get (&self->table, end) : NULL;
  g_autofree char *text =
    entry ? g_strndup ((const char *) self->table.bytes->data + entry->at, entry->length) : NULL;
  if (text)
    lig_token_table_name (&self->table, (gint32) end, *text ? text : END_OF_TEXT, TRUE);
  return TRUE;
}
