/* SPDX-License-Identifier: MIT */
/* Reads tokenizer.json of Hugging Face's library `tokenizers`: the members of the file, its added
 * tokens and its normalizer. */
#include "engine/text/byte-level.h"
#include "engine/text/json-reader.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* --- Added tokens --------------------------------------------------------------------------- */

/* Adds an added token to the vocabulary, unless it has the text already. */
static gboolean
place_added (
  LigTokenizerReader *self, const char *path, gint64 token, const char *text, gboolean special)
{
  LigTokenTable *table = &self->tokenizer->table;
  gint64 known = lig_json_get_int (self->vocabulary, text, -1);
  if (token < 0 || token >= LIG_MAX_TOKENS)
    return lig_tokenizer_reject (self, path, _ ("the id is %" PRId64 ", expected 0 to %d"), token,
                                 LIG_MAX_TOKENS - 1);
  if (known >= 0 && known != token)
    return lig_tokenizer_reject (
      self, path, _ ("the id of '%s' is %" PRId64 ", but %" PRId64 " in the vocabulary"), text,
      token, known);
  if (known < 0 && lig_token_table_get (table, token))
    return lig_tokenizer_reject (self, path, _ ("the id %" PRId64 " of '%s' is another token's"),
                                 token, text);
  if (known < 0) {
    g_autoptr (GByteArray) bytes = g_byte_array_new ();
    lig_byte_level_read (text, bytes);
    lig_token_table_add (table, (gint32) token, bytes->data, bytes->len);
  }
  return lig_token_table_name (table, (gint32) token, text, special) ||
         lig_tokenizer_reject (self, path, _ ("'%s' is added twice"), text);
}

static gboolean
read_added_token (LigTokenizerReader *self, const char *path, JsonObject *object)
{
  const char *text = lig_json_get_string (object, "content", NULL);
  gint64 token = lig_json_get_int (object, "id", -1);
  gboolean special = lig_tokenizer_get_truth (object, "special", FALSE);
  gboolean normalized = lig_tokenizer_get_truth (object, "normalized", !special);
  if (!text)
    return lig_tokenizer_reject (self, path, _ ("it has no content"));
  if (strlen (text) > LIG_LONGEST_ADDED)
    return lig_tokenizer_reject (self, path, _ ("it has %zu bytes, at most %d are supported"),
                                 strlen (text), LIG_LONGEST_ADDED);
  if (lig_tokenizer_get_truth (object, "single_word", FALSE))
    return lig_tokenizer_reject (
      self, path, _ ("single_word is true, which is not supported; set it to false"));
  if (!place_added (self, path, token, text, special))
    return FALSE;
  if (!*text)
    return TRUE;
  char *composed = normalized && self->tokenizer->composes
                     ? g_utf8_normalize (text, -1, G_NORMALIZE_NFC)
                     : g_strdup (text);
  LigAddedToken added = {
    .text = composed,
    .length = strlen (composed),
    .token = (gint32) token,
    .special = special,
    .strips_left = lig_tokenizer_get_truth (object, "lstrip", FALSE),
    .strips_right = lig_tokenizer_get_truth (object, "rstrip", FALSE),
  };
  lig_added_tokens_add (normalized ? &self->tokenizer->composed : &self->tokenizer->raw, &added);
  return TRUE;
}

gboolean
lig_tokenizer_read_added (LigTokenizerReader *self, JsonArray *tokens)
{
  for (guint i = 0; tokens && i < json_array_get_length (tokens); i++) {
    g_autofree char *path = g_strdup_printf ("$.added_tokens[%u]", i);
    JsonObject *object = lig_json_get_element (tokens, i);
    if (!object)
      return lig_tokenizer_reject (self, path, _ ("expected an object"));
    if (!read_added_token (self, path, object))
      return FALSE;
  }
  lig_added_tokens_sort (&self->tokenizer->raw);
  lig_added_tokens_sort (&self->tokenizer->composed);
  return TRUE;
}

/* --- The file ------------------------------------------------------------------------------- */

gboolean
lig_tokenizer_read_normalizer (LigTokenizerReader *self, JsonObject *normalizer)
{
  const char *kind = lig_tokenizer_get_kind (normalizer);
  JsonArray *parts = lig_json_get_array (normalizer, "normalizers");
  if (g_str_equal (kind, "NFC"))
    return self->tokenizer->composes = TRUE;
  if (!g_str_equal (kind, "Sequence") || !parts)
    return lig_tokenizer_reject_type (self, "$.normalizer", kind);
  for (guint i = 0; i < json_array_get_length (parts); i++) {
    JsonObject *part = lig_json_get_element (parts, i);
    if (!part)
      return lig_tokenizer_reject (self, "$.normalizer.normalizers", _ ("expected objects"));
    if (!lig_tokenizer_read_normalizer (self, part))
      return FALSE;
  }
  return TRUE;
}

/* Reads a member that is an object or null. */
static gboolean
read_optional (LigTokenizerReader *self,
               JsonObject *root,
               const char *name,
               gboolean (*read) (LigTokenizerReader *self, JsonObject *object))
{
  JsonObject *object = lig_tokenizer_get_object (root, name);
  if (object)
    return read (self, object);
  if (lig_tokenizer_is_null (root, name))
    return TRUE;
  g_autofree char *path = g_strconcat ("$.", name, NULL);
  return lig_tokenizer_reject (self, path, _ ("expected an object or null"));
}

/* Reads a member that may not be null: without it text is not split into bytes. */
static gboolean
read_needed (LigTokenizerReader *self,
             JsonObject *root,
             const char *name,
             gboolean (*read) (LigTokenizerReader *self, JsonObject *object))
{
  JsonObject *object = lig_tokenizer_get_object (root, name);
  g_autofree char *path = g_strconcat ("$.", name, NULL);
  return object
           ? read (self, object)
           : lig_tokenizer_reject (self, path, _ ("it is missing; %s"), _ (LIG_TOKENIZER_REMEDY));
}

static gboolean
read_root (LigTokenizerReader *self, JsonObject *root)
{
  JsonArray *added = lig_json_get_array (root, "added_tokens");
  if (!added && !lig_tokenizer_is_null (root, "added_tokens"))
    return lig_tokenizer_reject (self, "$.added_tokens", _ ("expected an array"));
  return read_needed (self, root, "model", lig_tokenizer_read_model) &&
         read_optional (self, root, "normalizer", lig_tokenizer_read_normalizer) &&
         lig_tokenizer_read_added (self, added) &&
         read_needed (self, root, "pre_tokenizer", lig_tokenizer_read_splitting) &&
         read_optional (self, root, "post_processor", lig_tokenizer_read_template) &&
         read_needed (self, root, "decoder", lig_tokenizer_read_decoder);
}

gboolean
lig_tokenizer_read_json (LigTokenizer *self, const char *text, gsize length, GError **error)
{
  const char *end;
  if (!g_utf8_validate_len (text, length, &end)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: byte %zu, 0x%02x, is not UTF-8"),
                 self->name, (gsize) (end - text), (guint8) *end);
    return FALSE;
  }
  g_autoptr (JsonNode) root = lig_json_read (text, length, self->name, error);
  if (!root)
    return FALSE;
  LigTokenizerReader reader = {self, NULL, error};
  return JSON_NODE_HOLDS_OBJECT (root)
           ? read_root (&reader, json_node_get_object (root))
           : lig_tokenizer_reject (&reader, "$", _ ("expected an object"));
}
