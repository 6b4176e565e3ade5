/* SPDX-License-Identifier: MIT */
/* Reads the members of tokenizer.json around the model: how text is split, the tokens that are put
 * around it, and the decoder. */
#include "engine/base/file.h"
#include "engine/text/json-reader.h"
#include "engine/text/splitter.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* --- Splitting ------------------------------------------------------------------------------ */

static gboolean
add_stage (LigTokenizerReader *self, const char *path, gboolean adds_space, GRegex *pattern)
{
  LigSplitStage stage = {adds_space, pattern};
  g_array_append_val (self->tokenizer->stages, stage);
  guint count = self->tokenizer->stages->len;
  return count <= LIG_MAX_STAGES ||
         lig_tokenizer_reject (self, path, _ ("there are %u parts, at most %d are supported"),
                               count, LIG_MAX_STAGES);
}

static gboolean
add_pattern (LigTokenizerReader *self, const char *path, const char *pattern, gboolean adds_space)
{
  g_autofree char *problem = NULL;
  GRegex *compiled = lig_split_compile (pattern, &problem);
  return compiled ? add_stage (self, path, adds_space, compiled)
                  : lig_tokenizer_reject (self, path, "%s; %s", problem, _ (LIG_TOKENIZER_REMEDY));
}

static gboolean
read_split (LigTokenizerReader *self, const char *path, JsonObject *split)
{
  JsonObject *pattern = lig_tokenizer_get_object (split, "pattern");
  const char *regex = pattern ? lig_json_get_string (pattern, "Regex", NULL) : NULL;
  const char *text = pattern ? lig_json_get_string (pattern, "String", NULL) : NULL;
  const char *behavior = lig_json_get_string (split, "behavior", "");
  if (!g_str_equal (behavior, "Isolated")) {
    g_autofree char *shown = lig_format_excerpt (behavior, 40);
    return lig_tokenizer_reject (self, path,
                                 _ ("its behavior is '%s', only Isolated is supported; %s"), shown,
                                 _ (LIG_TOKENIZER_REMEDY));
  }
  if (lig_tokenizer_get_truth (split, "invert", FALSE))
    return lig_tokenizer_reject (self, path, _ ("its invert is true, which is not supported; %s"),
                                 _ (LIG_TOKENIZER_REMEDY));
  if (regex)
    return add_pattern (self, path, regex, FALSE);
  GRegex *compiled = text && *text ? lig_split_compile_text (text) : NULL;
  return compiled ? add_stage (self, path, FALSE, compiled)
                  : lig_tokenizer_reject (self, path, _ ("it has no pattern that is supported"));
}

static gboolean
read_byte_level (LigTokenizerReader *self, const char *path, JsonObject *level)
{
  gboolean adds_space = lig_tokenizer_get_truth (level, "add_prefix_space", TRUE);
  if (lig_tokenizer_get_truth (level, "use_regex", TRUE))
    return add_pattern (self, path, LIG_SPLIT_GPT2, adds_space);
  return !adds_space || add_stage (self, path, TRUE, NULL);
}

/* Reads one part of the splitting; ByteLevel must be the last one, which sets `ended`. */
static gboolean
read_part (LigTokenizerReader *self, const char *path, JsonObject *part, gboolean *ended)
{
  const char *kind = part ? lig_tokenizer_get_kind (part) : "";
  JsonArray *parts = part ? lig_json_get_array (part, "pretokenizers") : NULL;
  if (*ended)
    return lig_tokenizer_reject (self, path,
                                 _ ("it follows ByteLevel, which must be the last one"));
  if (g_str_equal (kind, "Split"))
    return read_split (self, path, part);
  if (g_str_equal (kind, "ByteLevel")) {
    *ended = TRUE;
    return read_byte_level (self, path, part);
  }
  if (!g_str_equal (kind, "Sequence") || !parts)
    return lig_tokenizer_reject_type (self, path, kind);
  for (guint i = 0; i < json_array_get_length (parts); i++) {
    g_autofree char *inside = g_strdup_printf ("%s.pretokenizers[%u]", path, i);
    if (!read_part (self, inside, lig_json_get_element (parts, i), ended))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_tokenizer_read_splitting (LigTokenizerReader *self, JsonObject *splitting)
{
  gboolean ended = FALSE;
  if (!read_part (self, "$.pre_tokenizer", splitting, &ended))
    return FALSE;
  return ended || lig_tokenizer_reject (self, "$.pre_tokenizer", _ ("it has no ByteLevel; %s"),
                                        _ (LIG_TOKENIZER_REMEDY));
}

/* --- Tokens around a text ------------------------------------------------------------------- */

static gboolean
add_template_token (
  LigTokenizerReader *self, const char *path, JsonObject *known, const char *name, GArray *to)
{
  JsonObject *special = name && known ? lig_tokenizer_get_object (known, name) : NULL;
  JsonArray *ids = lig_json_get_array (special, "ids");
  if (!ids)
    return lig_tokenizer_reject (self, path, _ ("special_tokens has no ids of '%s'"),
                                 name ? name : "");
  for (guint i = 0; i < json_array_get_length (ids); i++) {
    JsonNode *id = json_array_get_element (ids, i);
    gboolean whole = JSON_NODE_HOLDS_VALUE (id) && json_node_get_value_type (id) == G_TYPE_INT64;
    gint64 token = whole ? json_node_get_int (id) : -1;
    if (!lig_token_table_get (&self->tokenizer->table, token))
      return lig_tokenizer_reject (self, path, _ ("no token has the id %" PRId64 " of '%s'"), token,
                                   name);
    g_array_append_val (to, (gint32){(gint32) token});
  }
  return TRUE;
}

/* Reads the template of a single text; that of a pair is not used. */
static gboolean
read_single (LigTokenizerReader *self, const char *path, JsonObject *around)
{
  JsonArray *single = lig_json_get_array (around, "single");
  JsonObject *known = lig_tokenizer_get_object (around, "special_tokens");
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (gint32));
  guint texts = 0;
  for (guint i = 0; single && i < json_array_get_length (single); i++) {
    JsonObject *part = lig_json_get_element (single, i);
    JsonObject *text = part ? lig_tokenizer_get_object (part, "Sequence") : NULL;
    JsonObject *token = part ? lig_tokenizer_get_object (part, "SpecialToken") : NULL;
    if (text && g_str_equal (lig_json_get_string (text, "id", ""), "A"))
      texts++;
    else if (!token)
      return lig_tokenizer_reject (self, path,
                                   _ ("single has a part other than a text A and tokens"));
    else if (!add_template_token (self, path, known, lig_json_get_string (token, "id", NULL),
                                  texts > 0 ? after : before))
      return FALSE;
  }
  if (texts != 1)
    return lig_tokenizer_reject (self, path, _ ("the number of texts in single is %u, expected 1"),
                                 texts);
  g_array_prepend_vals (self->tokenizer->before, before->data, before->len);
  g_array_append_vals (self->tokenizer->after, after->data, after->len);
  return TRUE;
}

static gboolean
read_around (LigTokenizerReader *self, const char *path, JsonObject *around)
{
  const char *kind = around ? lig_tokenizer_get_kind (around) : "";
  JsonArray *parts = around ? lig_json_get_array (around, "processors") : NULL;
  if (g_str_equal (kind, "ByteLevel")) /* changes offsets only */
    return TRUE;
  if (g_str_equal (kind, "TemplateProcessing"))
    return read_single (self, path, around);
  if (!g_str_equal (kind, "Sequence") || !parts)
    return lig_tokenizer_reject_type (self, path, kind);
  for (guint i = 0; i < json_array_get_length (parts); i++) {
    g_autofree char *inside = g_strdup_printf ("%s.processors[%u]", path, i);
    if (!read_around (self, inside, lig_json_get_element (parts, i)))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_tokenizer_read_template (LigTokenizerReader *self, JsonObject *around)
{
  return read_around (self, "$.post_processor", around);
}

gboolean
lig_tokenizer_read_decoder (LigTokenizerReader *self, JsonObject *decoder)
{
  const char *kind = lig_tokenizer_get_kind (decoder);
  return g_str_equal (kind, "ByteLevel") || lig_tokenizer_reject_type (self, "$.decoder", kind);
}
