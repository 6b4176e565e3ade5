/* SPDX-License-Identifier: MIT */
/* Encodes text: added tokens are found, the text between them is normalized and split into pieces,
 * and the bytes of each piece are merged. */
#include "engine/text/splitter.h"
#include "engine/text/tokenizer-struct.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A token has at least one byte of text, and a GArray up to 4 GiB. */
#define LONGEST_TEXT (1 << 28)

typedef struct {
  const LigTokenizer *tokenizer;
  gboolean special;
  GArray *tokens;
  LigBytePairWork work;
} Encoding;

/* A piece in front of a stage of splitting. */
typedef struct {
  Encoding *encoding;
  guint stage;
} Stage;

static gboolean
encode_piece (Encoding *self, const char *piece, gsize length, GError **error)
{
  const LigTokenizer *tokenizer = self->tokenizer;
  if (tokenizer->whole_first) {
    gint32 token = lig_token_table_find (&tokenizer->table, (const guint8 *) piece, length);
    if (token >= 0) {
      g_array_append_val (self->tokens, token);
      return TRUE;
    }
  }
  if (length > LIG_LONGEST_PIECE) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s: a word has %zu bytes, at most %d are supported; divide the text"),
                 tokenizer->name, length, LIG_LONGEST_PIECE);
    return FALSE;
  }
  for (gsize i = 0; i < length; i++)
    if (tokenizer->pairs.bytes[(guint8) piece[i]] < 0) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s: the text has byte 0x%02x, for which the vocabulary has no token"),
                   tokenizer->name, (guint8) piece[i]);
      return FALSE;
    }
  lig_byte_pairs_encode (&tokenizer->pairs, &self->work, (const guint8 *) piece, length,
                         self->tokens);
  return TRUE;
}

static gboolean
split_further (const char *piece, gsize length, gpointer data, GError **error)
{
  const Stage *at = data;
  const GArray *stages = at->encoding->tokenizer->stages;
  if (at->stage == stages->len)
    return encode_piece (at->encoding, piece, length, error);
  const LigSplitStage *stage = &g_array_index (stages, LigSplitStage, at->stage);
  Stage next = {at->encoding, at->stage + 1};
  g_autofree char *spaced = NULL;
  if (stage->adds_space && *piece != ' ') {
    spaced = g_malloc (length + 2);
    *spaced = ' ';
    memcpy (spaced + 1, piece, length);
    spaced[++length] = '\0';
    piece = spaced;
  }
  return stage->pattern
           ? lig_split_text (stage->pattern, piece, length, split_further, &next, error)
           : split_further (piece, length, &next, error);
}

static gboolean
encode_composed (
  const LigAddedToken *token, const char *text, gsize length, gpointer data, GError **error)
{
  Encoding *self = data;
  if (!token)
    return split_further (text, length, &(Stage){self, 0}, error);
  g_array_append_val (self->tokens, token->token);
  return TRUE;
}

static gboolean
encode_raw (
  const LigAddedToken *token, const char *text, gsize length, gpointer data, GError **error)
{
  Encoding *self = data;
  if (token) {
    g_array_append_val (self->tokens, token->token);
    return TRUE;
  }
  g_autofree char *composed =
    self->tokenizer->composes ? lig_tokenizer_compose (text, length, &length) : NULL;
  return lig_added_tokens_split (&self->tokenizer->composed, composed ? composed : text, length,
                                 self->special, encode_composed, self, error);
}

static gboolean
check_text (LigTokenizer *self, const char *text, gsize length, GError **error)
{
  if (length > LONGEST_TEXT) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the text has %zu bytes, at most %d are encoded at once; divide it"), length,
                 LONGEST_TEXT);
    return FALSE;
  }
  gsize valid =
    self->kind == LIG_TOKENIZER_BYTES ? length : lig_tokenizer_check_utf8 (text, length);
  if (valid == length)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("byte %zu of the text, 0x%02x, is not UTF-8; convert the text"), valid,
               (guint8) text[valid]);
  return FALSE;
}

gint32 *
lig_tokenizer_encode (LigTokenizer *self,
                      const char *text,
                      gssize length,
                      gboolean special,
                      gsize *n_tokens,
                      GError **error)
{
  gsize size = length < 0 ? strlen (text) : (gsize) length;
  g_return_val_if_fail (self && n_tokens, NULL);
  *n_tokens = 0;
  if (self->kind == LIG_TOKENIZER_DECODES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_ORDER,
                 _ ("%s: it has no merges; give the tokenizer.json"), self->name);
    return NULL;
  }
  if (!check_text (self, text, size, error))
    return NULL;
  /* It has memory even without tokens, so that the result is not null. */
  g_autoptr (GArray) tokens =
    g_array_sized_new (FALSE, FALSE, sizeof (gint32), (guint) (size / 4 + 16));
  gboolean good = TRUE;
  if (self->kind == LIG_TOKENIZER_BYTES) {
    for (gsize i = 0; i < size; i++)
      g_array_append_val (tokens, ((gint32){(guint8) text[i]}));
  } else {
    Encoding encoding = {.tokenizer = self, .special = special, .tokens = tokens};
    lig_byte_pair_work_init (&encoding.work);
    if (special)
      g_array_append_vals (tokens, self->before->data, self->before->len);
    good = lig_added_tokens_split (&self->raw, text, size, special, encode_raw, &encoding, error);
    if (special)
      g_array_append_vals (tokens, self->after->data, self->after->len);
    lig_byte_pair_work_clear (&encoding.work);
  }
  if (!good)
    return NULL;
  *n_tokens = tokens->len;
  return (gint32 *) (gpointer) g_array_free (g_steal_pointer (&tokens), FALSE);
}
