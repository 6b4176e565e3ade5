/* SPDX-License-Identifier: MIT */
/* Reads the model of tokenizer.json: the vocabulary and the merges. */
#include "engine/text/byte-level.h"
#include "engine/text/json-reader.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Merges are fewer than the values of a JSON file. */
G_STATIC_ASSERT (LIG_JSON_MAX_VALUES < G_MAXINT32);

/* --- The vocabulary ------------------------------------------------------------------------- */

/* Returns whether an id is a whole number within the limits that no other token has. */
static gboolean
check_id (LigTokenizerReader *self, const char *text, JsonNode *value)
{
  g_autoptr (GString) path = NULL;
  gboolean whole =
    JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_INT64;
  gint64 token = whole ? json_node_get_int (value) : -1;
  gboolean inside = token >= 0 && token < LIG_MAX_TOKENS;
  if (inside && !lig_token_table_get (&self->tokenizer->table, token))
    return TRUE;
  path = g_string_new ("$.model.vocab");
  lig_json_append_key (path, text);
  if (!whole)
    return lig_tokenizer_reject (self, path->str, _ ("expected a whole number"));
  if (!inside)
    return lig_tokenizer_reject (self, path->str, _ ("the id is %" PRId64 ", expected 0 to %d"),
                                 token, LIG_MAX_TOKENS - 1);
  return lig_tokenizer_reject (self, path->str, _ ("the id %" PRId64 " is another token's, too"),
                               token);
}

static gboolean
read_vocabulary (LigTokenizerReader *self, JsonObject *vocabulary)
{
  JsonObjectIter iter;
  const char *text;
  JsonNode *value;
  LigTokenTable *table = &self->tokenizer->table;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  json_object_iter_init_ordered (&iter, vocabulary);
  while (json_object_iter_next_ordered (&iter, &text, &value)) {
    if (!check_id (self, text, value))
      return FALSE;
    lig_byte_level_read (text, bytes);
    lig_token_table_add (table, (gint32) json_node_get_int (value), bytes->data, bytes->len);
  }
  self->vocabulary = vocabulary;
  return TRUE;
}

/* Returns the token of a text, or -1. */
static gint32
find_token (LigTokenizerReader *self, const char *text)
{
  return (gint32) lig_json_get_int (self->vocabulary, text, -1);
}

/* Finds the tokens of the bytes. A vocabulary of characters has no token for most of them. */
static gboolean
read_bytes (LigTokenizerReader *self, JsonObject *model)
{
  gint32 *tokens = self->tokenizer->pairs.bytes;
  guint missing = 0;
  for (guint byte = 0; byte < 256; byte++) {
    char text[8];
    lig_byte_level_write ((guint8) byte, text);
    tokens[byte] = find_token (self, text);
    missing += tokens[byte] < 0;
  }
  if (missing == 256)
    return lig_tokenizer_reject (self, "$.model.vocab", _ ("no byte has a token; %s"),
                                 _ (LIG_TOKENIZER_REMEDY));
  if (missing > 0 && !lig_tokenizer_is_null (model, "unk_token"))
    return lig_tokenizer_reject (
      self, "$.model.unk_token",
      _ ("unknown bytes would become a token, %u have none, which is not supported; %s"), missing,
      _ (LIG_TOKENIZER_REMEDY));
  return TRUE;
}

/* --- Merges --------------------------------------------------------------------------------- */

/* Returns the two halves of a merge, "a b" or ["a", "b"]; null if it has another form. */
static char **
read_halves (JsonNode *merge)
{
  g_auto (GStrv) halves = NULL;
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (merge) ? json_node_get_array (merge) : NULL;
  if (array && json_array_get_length (array) == 2) {
    halves = g_new0 (char *, 3);
    for (guint i = 0; i < 2; i++) {
      JsonNode *half = json_array_get_element (array, i);
      halves[i] = g_strdup (JSON_NODE_HOLDS_VALUE (half) ? json_node_get_string (half) : NULL);
    }
  } else if (JSON_NODE_HOLDS_VALUE (merge) && json_node_get_string (merge)) {
    halves = g_strsplit (json_node_get_string (merge), " ", 3);
  }
  gboolean good = halves && halves[0] && halves[1] && !halves[2] && *halves[0] && *halves[1];
  return good ? g_steal_pointer (&halves) : NULL;
}

static gboolean
read_merge (LigTokenizerReader *self, guint n, JsonNode *merge)
{
  g_autofree char *path = g_strdup_printf ("$.model.merges[%u]", n);
  g_auto (GStrv) halves = read_halves (merge);
  if (!halves)
    return lig_tokenizer_reject (self, path, _ ("expected two tokens, \"a b\" or [\"a\", \"b\"]"));
  g_autofree char *whole = g_strconcat (halves[0], halves[1], NULL);
  const char *texts[] = {halves[0], halves[1], whole};
  gint32 tokens[3];
  for (guint i = 0; i < 3; i++) {
    tokens[i] = find_token (self, texts[i]);
    if (tokens[i] < 0)
      return lig_tokenizer_reject (self, path, _ ("'%s' is not in the vocabulary"), texts[i]);
  }
  return lig_byte_pairs_add (&self->tokenizer->pairs, tokens[0], tokens[1], tokens[2]) ||
         lig_tokenizer_reject (self, path, _ ("'%s' and '%s' are merged twice"), halves[0],
                               halves[1]);
}

static gboolean
read_merges (LigTokenizerReader *self, JsonArray *merges)
{
  for (guint i = 0; i < json_array_get_length (merges); i++) {
    JsonNode *merge = json_array_get_element (merges, i);
    const char *line = JSON_NODE_HOLDS_VALUE (merge) ? json_node_get_string (merge) : NULL;
    if (!(line && g_str_has_prefix (line, "#version")) && !read_merge (self, i, merge))
      return FALSE;
  }
  return TRUE;
}

/* --- The model ------------------------------------------------------------------------------ */

/* Rejects the variants of BPE that give other tokens. */
static gboolean
check_variant (LigTokenizerReader *self, JsonObject *model)
{
  static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
  const char *kind = lig_tokenizer_get_kind (model);
  if (!g_str_equal (kind, "BPE") && (*kind || !json_object_has_member (model, "merges")))
    return lig_tokenizer_reject_type (self, "$.model.type", kind);
  JsonNode *dropout = json_object_get_member (model, "dropout");
  if (dropout && JSON_NODE_HOLDS_VALUE (dropout) && json_node_get_double (dropout) != 0)
    return lig_tokenizer_reject (
      self, "$.model.dropout",
      _ ("it is %g, with which the same text has several encodings; set it to null"),
      json_node_get_double (dropout));
  if (lig_tokenizer_get_truth (model, "byte_fallback", FALSE))
    return lig_tokenizer_reject_type (self, "$.model.byte_fallback", "byte_fallback");
  for (guint i = 0; i < G_N_ELEMENTS (affixes); i++)
    if (*lig_json_get_string (model, affixes[i], "")) {
      g_autofree char *path = g_strconcat ("$.model.", affixes[i], NULL);
      return lig_tokenizer_reject_type (self, path, affixes[i]);
    }
  return TRUE;
}

gboolean
lig_tokenizer_read_model (LigTokenizerReader *self, JsonObject *model)
{
  JsonObject *vocabulary = lig_tokenizer_get_object (model, "vocab");
  JsonArray *merges = lig_json_get_array (model, "merges");
  if (!check_variant (self, model))
    return FALSE;
  if (!vocabulary)
    return lig_tokenizer_reject (self, "$.model.vocab", _ ("expected an object"));
  if (!merges)
    return lig_tokenizer_reject (self, "$.model.merges", _ ("expected an array"));
  lig_byte_pairs_init (&self->tokenizer->pairs, json_array_get_length (merges));
  self->tokenizer->whole_first = lig_tokenizer_get_truth (model, "ignore_merges", FALSE);
  if (!read_vocabulary (self, vocabulary) || !read_bytes (self, model) ||
      !read_merges (self, merges))
    return FALSE;
  if (self->tokenizer->whole_first)
    lig_token_table_index (&self->tokenizer->table);
  return TRUE;
}
