/* SPDX-License-Identifier: MIT */
/* Checks the rules in `config` and `requires` of a names table, which say how a config.json and the
 * ops correspond. The rules are kept as JSON, because they are few and each is read once; checking
 * them when the table is loaded lets their readers rely on the types of members. */
#include "engine/tensor/config.h"

#include <glib/gi18n-lib.h>

static gboolean G_GNUC_PRINTF (3, 4) reject_rule (guint n, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *expected = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("rule %u: expected %s"), n, expected);
  return FALSE;
}

gboolean
lig_config_is_string (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
}

/* Returns whether the member is missing or a list of at least one string. */
static gboolean
has_strings (JsonObject *rule, const char *key)
{
  JsonNode *node = json_object_get_member (rule, key);
  if (!node)
    return TRUE;
  JsonArray *array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint count = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < count; i++)
    if (!lig_config_is_string (json_array_get_element (array, i)))
      return FALSE;
  return count > 0;
}

/* Checks the part of a rule about layers that may differ. */
static gboolean
check_blocks (JsonNode *node, guint n, GError **error)
{
  static const char *const strings[] = {"kinds", "kind", "other"};
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return reject_rule (n, error, _ ("an object in '%s'"), "layers");
  JsonObject *blocks = json_node_get_object (node);
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    if (!lig_config_is_string (json_object_get_member (blocks, strings[i])))
      return reject_rule (n, error, _ ("a string '%s' in '%s'"), strings[i], "layers");
  JsonNode *from = json_object_get_member (blocks, "from");
  if (from && !lig_config_is_string (from))
    return reject_rule (n, error, _ ("a string '%s' in '%s'"), "from", "layers");
  return json_object_has_member (blocks, "otherwise") ||
         reject_rule (n, error, _ ("the member '%s' in '%s'"), "otherwise", "layers");
}

static gboolean
check_members (JsonObject *rule, guint n, GError **error)
{
  static const char *const lists[] = {"keys", "reads", "value", "among"};
  static const char *const strings[] = {"size", "per",    "with",    "without", "unless",
                                        "if",   "switch", "indices", "times"};
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (!has_strings (rule, lists[i]))
      return reject_rule (n, error, _ ("a list of strings in '%s'"), lists[i]);
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    if (json_object_has_member (rule, strings[i]) &&
        !lig_config_is_string (json_object_get_member (rule, strings[i])))
      return reject_rule (n, error, _ ("a string in '%s'"), strings[i]);
  JsonNode *blocks = json_object_get_member (rule, "layers");
  if (blocks && !check_blocks (blocks, n, error))
    return FALSE;
  JsonNode *map = json_object_get_member (rule, "texts");
  return !map || JSON_NODE_HOLDS_OBJECT (map) ||
         reject_rule (n, error, _ ("an object in '%s'"), "texts");
}

/* Checks a rule of `requires` if `required`, else a rule of `config`. */
static gboolean
check_rule (JsonNode *node, guint n, gboolean required, GError **error)
{
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return reject_rule (n, error, "%s", _ ("an object"));
  JsonObject *rule = json_node_get_object (node);
  if (!check_members (rule, n, error))
    return FALSE;
  gboolean value = json_object_has_member (rule, "value"),
           constant = json_object_has_member (rule, "constant");
  if (required)
    return (value && constant) ||
           reject_rule (n, error, "%s", _ ("the members 'value' and 'constant'"));
  if (!json_object_has_member (rule, "keys") && !json_object_has_member (rule, "reads"))
    return reject_rule (n, error, "%s", _ ("a member 'keys' or 'reads'"));
  int ways = value + constant + json_object_has_member (rule, "size") +
             json_object_has_member (rule, "indices") + json_object_has_member (rule, "among");
  return ways == 1 ||
         reject_rule (n, error, "%s",
                      _ ("exactly one of the members 'value', 'size', 'indices', 'constant' and "
                         "'among'"));
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
