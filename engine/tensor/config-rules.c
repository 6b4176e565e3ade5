/* SPDX-License-Identifier: MIT */
/* Checks the rules of a table of names for config.json. */
#include "engine/tensor/config.h"

#include <glib/gi18n-lib.h>

/* The rules stay JSON, which is checked when the table is loaded: they are few and read once. */
static gboolean
reject_rule (guint n, const char *expected, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("rule %u: expected %s"), n, expected);
  return FALSE;
}

gboolean
lig_config_is_text (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
}

/* Returns whether the member is missing or a list of texts. */
static gboolean
has_texts (JsonObject *rule, const char *key)
{
  JsonNode *node = json_object_get_member (rule, key);
  if (!node)
    return TRUE;
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint count = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < count; i++)
    if (!lig_config_is_text (json_array_get_element (array, i)))
      return FALSE;
  return count > 0;
}

static gboolean
check_rule (JsonNode *node, guint n, gboolean needed, GError **error)
{
  static const char *const texts[] = {"size", "per", "with", "without", "unless", "switch"};
  static const char *const of_blocks[] = {"kinds", "kind", "other", "from"};
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return reject_rule (n, _ ("an object"), error);
  JsonObject *rule = json_node_get_object (node);
  if (!has_texts (rule, "keys") || !has_texts (rule, "reads") || !has_texts (rule, "value") ||
      !has_texts (rule, "among"))
    return reject_rule (n, _ ("a list of texts"), error);
  if (!needed && !json_object_has_member (rule, "keys") && !json_object_has_member (rule, "reads"))
    return reject_rule (n, _ ("keys or reads"), error);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (json_object_has_member (rule, texts[i]) &&
        !lig_config_is_text (json_object_get_member (rule, texts[i])))
      return reject_rule (n, _ ("a text"), error);
  JsonNode *blocks = json_object_get_member (rule, "layers");
  if (blocks && !JSON_NODE_HOLDS_OBJECT (blocks))
    return reject_rule (n, _ ("an object"), error);
  for (guint i = 0; blocks && i < G_N_ELEMENTS (of_blocks); i++)
    if (!lig_config_is_text (json_object_get_member (json_node_get_object (blocks), of_blocks[i])))
      return reject_rule (n, _ ("a text"), error);
  if (blocks && !json_object_has_member (json_node_get_object (blocks), "otherwise"))
    return reject_rule (n, "otherwise", error);
  JsonNode *map = json_object_get_member (rule, "texts");
  if (map && !JSON_NODE_HOLDS_OBJECT (map))
    return reject_rule (n, _ ("an object"), error);
  gboolean value = json_object_has_member (rule, "value"),
           constant = json_object_has_member (rule, "constant");
  int ways = value + constant + json_object_has_member (rule, "size") +
             json_object_has_member (rule, "among");
  return (needed ? value && constant : ways == 1) ||
         reject_rule (
           n, needed ? _ ("value and constant") : _ ("one of value, size, constant and among"),
           error);
}

static JsonArray *
read_rules (JsonObject *table, const char *key, GError **error)
{
  JsonNode *node = json_object_get_member (table, key);
  JsonArray *rules = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  if (!node)
    return json_array_new ();
  if (!rules) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: expected %s"), key, _ ("a list"));
    return NULL;
  }
  for (guint n = 0; n < json_array_get_length (rules); n++)
    if (!check_rule (json_array_get_element (rules, n), n, g_str_equal (key, "requires"), error)) {
      g_prefix_error (error, "%s: ", key);
      return NULL;
    }
  return json_array_ref (rules);
}

gboolean
lig_config_parse (LigNames *names, JsonObject *table, GError **error)
{
  return (names->config = read_rules (table, "config", error)) &&
         (names->requires = read_rules (table, "requires", error));
}
