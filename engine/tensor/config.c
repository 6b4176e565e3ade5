/* SPDX-License-Identifier: MIT */
#include "engine/tensor/config.h"

#include "engine/base/file.h"
#include "engine/base/json-private.h"
#include "engine/tensor/safetensors.h"
#include <ligature/json.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* --- Traits --------------------------------------------------------------------------------- */

static void
clear_trait (gpointer data)
{
  LigTrait *trait = data;
  g_free (trait->name);
  g_free (trait->title);
  g_free (trait->path);
  g_free (trait->text);
}

GArray *
lig_traits_new (void)
{
  GArray *traits = g_array_new (FALSE, TRUE, sizeof (LigTrait));
  g_array_set_clear_func (traits, clear_trait);
  return traits;
}

void
lig_traits_add (
  GArray *traits, char *name, const char *title, const char *path, char *text, double number)
{
  LigTrait trait = {name, g_strdup (title), g_strdup (path), text, number};
  g_array_append_val (traits, trait);
}

/* Returns the nth trait of that name, null after the last. */
static const LigTrait *
find_trait (const GArray *traits, const char *name, guint n)
{
  for (guint i = 0; i < traits->len; i++) {
    const LigTrait *trait = &g_array_index (traits, LigTrait, i);
    if (g_str_equal (trait->name, name) && n-- == 0)
      return trait;
  }
  return NULL;
}

/* --- Rules --------------------------------------------------------------------------------- */

/* The rules stay JSON, which is checked when the table is read: they are few and read once. */
static gboolean
refuse_rule (guint n, const char *expected, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("rule %u: expected %s"), n, expected);
  return FALSE;
}

static gboolean
is_text (JsonNode *node)
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
    if (!is_text (json_array_get_element (array, i)))
      return FALSE;
  return count > 0;
}

static gboolean
check_rule (JsonNode *node, guint n, gboolean needed, GError **error)
{
  static const char *const texts[] = {"size", "per", "with", "without", "unless"};
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return refuse_rule (n, _ ("an object"), error);
  JsonObject *rule = json_node_get_object (node);
  if (!has_texts (rule, "keys") || !has_texts (rule, "reads") || !has_texts (rule, "value"))
    return refuse_rule (n, _ ("a list of texts"), error);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (json_object_has_member (rule, texts[i]) &&
        !is_text (json_object_get_member (rule, texts[i])))
      return refuse_rule (n, _ ("a text"), error);
  JsonNode *map = json_object_get_member (rule, "texts");
  if (map && !JSON_NODE_HOLDS_OBJECT (map))
    return refuse_rule (n, _ ("an object"), error);
  gboolean value = json_object_has_member (rule, "value"),
           constant = json_object_has_member (rule, "constant");
  int ways = value + json_object_has_member (rule, "size") + constant;
  return (needed ? value && constant : ways == 1) ||
         refuse_rule (n, needed ? _ ("value and constant") : _ ("one of value, size and constant"),
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

/* Returns the trait that a rule compares: the first of its names that has one and is not 0. */
static const LigTrait *
trait_of (const GArray *traits, JsonObject *rule, guint n)
{
  JsonArray *names = json_object_get_array_member (rule, "value");
  guint count = json_array_get_length (names);
  for (guint i = 0; i < count; i++) {
    const LigTrait *trait = find_trait (traits, json_array_get_string_element (names, i), n);
    if (trait && (trait->text || trait->number != 0 || i + 1 == count))
      return trait;
  }
  return NULL;
}

const char *
lig_config_their_text (JsonObject *rule, const char *text)
{
  JsonObjectIter iter;
  const char *theirs;
  JsonNode *node;
  if (!json_object_has_member (rule, "texts"))
    return text;
  json_object_iter_init_ordered (&iter, json_object_get_object_member (rule, "texts"));
  while (json_object_iter_next_ordered (&iter, &theirs, &node))
    if (is_text (node) && g_str_equal (json_node_get_string (node), text))
      return theirs;
  return NULL;
}

/* Returns whether a value of the other program's is that of the trait. */
static gboolean
is_equal (JsonObject *rule, const LigTrait *trait, JsonNode *value)
{
  if (!JSON_NODE_HOLDS_VALUE (value))
    return FALSE;
  if (!trait->text)
    return !is_text (value) && (float) json_node_get_double (value) == (float) trait->number;
  if (json_node_get_value_type (value) == G_TYPE_BOOLEAN)
    return g_str_equal (trait->text, json_node_get_boolean (value) ? "true" : "false");
  if (!is_text (value))
    return FALSE;
  const char *text = json_node_get_string (value);
  JsonNode *own = json_object_has_member (rule, "texts")
                    ? json_object_get_member (json_object_get_object_member (rule, "texts"), text)
                    : value;
  return is_text (own) && g_str_equal (json_node_get_string (own), trait->text);
}

char *
lig_config_format (double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (number == floor (number) && fabs (number) < 1e15)
    return g_strdup_printf ("%.0f", number);
  for (int digits = 1; digits <= 9; digits++) {
    g_autofree char *format = g_strdup_printf ("%%.%dg", digits);
    g_ascii_formatd (text, sizeof text, format, number);
    if ((float) g_ascii_strtod (text, NULL) == (float) number)
      break;
  }
  return g_strdup (text);
}

char *
lig_config_describe (JsonObject *rule, const LigTrait *trait)
{
  const char *theirs = trait->text ? lig_config_their_text (rule, trait->text) : NULL;
  return trait->text ? g_strdup (theirs ? theirs : trait->text) : lig_config_format (trait->number);
}

/* Returns the text of a value of the other program's. */
static char *
describe_value (JsonNode *value)
{
  return JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_DOUBLE
           ? lig_config_format (json_node_get_double (value))
           : json_to_string (value, FALSE);
}

/* Returns a member of nested objects by its path with points; null if it is missing or null. */
static JsonNode *
find_member (JsonObject *object, const char *path)
{
  g_auto (GStrv) keys = g_strsplit (path, ".", -1);
  JsonNode *node = NULL;
  for (char **key = keys; *key; key++) {
    node = json_object_get_member (object, *key);
    if (!node || (key[1] && !JSON_NODE_HOLDS_OBJECT (node)))
      return NULL;
    object = key[1] ? json_node_get_object (node) : NULL;
  }
  return node && !JSON_NODE_HOLDS_NULL (node) ? node : NULL;
}

/* --- Checking ------------------------------------------------------------------------------ */

gboolean
lig_config_check_required (const GArray *traits,
                           const LigNames *names,
                           gboolean of_files,
                           GError **error)
{
  LigDifferences all = {0};
  for (guint i = 0; i < json_array_get_length (names->requires); i++) {
    JsonObject *rule = json_array_get_object_element (names->requires, i);
    const LigTrait *trait;
    JsonNode *constant = json_object_get_member (rule, "constant");
    const char *name =
      json_array_get_string_element (json_object_get_array_member (rule, "value"), 0);
    if (of_files && !json_object_get_boolean_member_with_default (rule, "of-files", FALSE))
      continue;
    for (guint n = 0; (trait = find_trait (traits, name, n)); n++) {
      if (is_equal (rule, trait, constant))
        continue;
      g_autofree char *own = lig_config_describe (rule, trait);
      g_autofree char *theirs = describe_value (constant);
      lig_differences_add (&all, _ ("%s of %s at %s is %s, the weights of %s need %s"), name,
                           trait->title, trait->path, own, names->name, theirs);
      break;
    }
  }
  return lig_differences_end (&all, _ ("the sequence does not fit the weights"), error);
}

/* Compares one key with all ops that have the trait; names the first that differs. */
static void
check_key (
  const GArray *traits, JsonObject *rule, const char *key, JsonNode *value, LigDifferences *all)
{
  const LigTrait *trait = NULL;
  g_autofree char *theirs = describe_value (value);
  for (guint n = 0; (trait = trait_of (traits, rule, n)); n++) {
    if (is_equal (rule, trait, value))
      continue;
    g_autofree char *own = lig_config_describe (rule, trait);
    lig_differences_add (all, _ ("%s is %s, %s of %s at %s is %s"), key, theirs, trait->name,
                         trait->title, trait->path, own);
    return;
  }
}

/* Compares a key that has the same value in all models of the names. */
static void
check_constant (JsonObject *rule, JsonObject *config, LigDifferences *all)
{
  JsonNode *constant = json_object_get_member (rule, "constant");
  const char *key = json_array_get_string_element (json_object_get_array_member (rule, "keys"), 0);
  JsonNode *value = find_member (config, key);
  if (!json_object_get_boolean_member_with_default (rule, "compared", FALSE) || !value ||
      json_node_equal (value, constant))
    return;
  g_autofree char *theirs = describe_value (value);
  g_autofree char *expected = describe_value (constant);
  lig_differences_add (all, _ ("%s is %s, expected %s"), key, theirs, expected);
}

static void
check_config (const GArray *traits, const LigNames *names, JsonObject *config, LigDifferences *all)
{
  static const char *const lists[] = {"keys", "reads"};
  for (guint i = 0; i < json_array_get_length (names->config); i++) {
    JsonObject *rule = json_array_get_object_element (names->config, i);
    JsonNode *value = NULL;
    if (json_object_has_member (rule, "constant"))
      check_constant (rule, config, all);
    for (guint l = 0; l < G_N_ELEMENTS (lists) && json_object_has_member (rule, "value"); l++) {
      JsonArray *keys = json_object_has_member (rule, lists[l])
                          ? json_object_get_array_member (rule, lists[l])
                          : NULL;
      for (guint k = 0; keys && !value && k < json_array_get_length (keys); k++) {
        const char *key = json_array_get_string_element (keys, k);
        if ((value = find_member (config, key)))
          check_key (traits, rule, key, value, all);
      }
    }
    JsonNode *absent = value ? NULL : json_object_get_member (rule, "absent");
    if (absent)
      check_key (traits, rule,
                 json_array_get_string_element (json_object_get_array_member (rule, "keys"), 0),
                 absent, all);
  }
}

/* Returns the config.json beside a file; null without an error if there is none. */
static JsonNode *
read_config (LigTensorFile *file, GError **error)
{
  g_autoptr (GPtrArray) paths = lig_tensor_file_get_paths (file);
  if (!paths || paths->len == 0)
    return NULL;
  g_autofree char *folder = g_path_get_dirname (g_ptr_array_index (paths, 0));
  g_autofree char *path = g_build_filename (folder, "config.json", NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  g_autoptr (GBytes) bytes = lig_read_file (path, error);
  gsize length = 0;
  const char *text = bytes ? g_bytes_get_data (bytes, &length) : NULL;
  if (!bytes)
    return NULL;
  g_autofree char *name = g_filename_display_name (path);
  if (length == 0 || memchr (text, '\0', length) || !g_utf8_validate_len (text, length, NULL)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", name, _ ("is not JSON"));
    return NULL;
  }
  g_autofree char *copy = g_strndup (text, length);
  g_autoptr (JsonNode) root = lig_json_read (copy, length, name, error);
  if (root && !JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: expected %s"), name, _ ("an object"));
    return NULL;
  }
  return g_steal_pointer (&root);
}

gboolean
lig_config_check (const LigImport *import, const GArray *traits, GError **error)
{
  LigDifferences differences = {0};
  g_autoptr (GError) local = NULL;
  if (!lig_config_check_required (traits, import->names, TRUE, error))
    return FALSE;
  g_autoptr (JsonNode) root = read_config (import->file, &local);
  if (local) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  if (root)
    check_config (traits, import->names, json_node_get_object (root), &differences);
  return lig_differences_end (&differences, _ ("config.json does not fit the sequence"), error);
}
