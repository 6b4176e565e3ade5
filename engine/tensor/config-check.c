/* SPDX-License-Identifier: MIT */
/* Compares the ops of an op sequence with config.json. */
#include "engine/tensor/config.h"

#include "engine/base/file.h"
#include "engine/base/json-private.h"
#include "engine/tensor/safetensors.h"
#include <ligature/json.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Values -------------------------------------------------------------------------------- */

/* Returns the trait that a rule compares: the first of its names that has one and is not 0. */
static const LigTrait *
trait_of (const GArray *traits, JsonObject *rule, guint n)
{
  JsonArray *names = json_object_get_array_member (rule, "value");
  guint count = json_array_get_length (names);
  for (guint i = 0; i < count; i++) {
    const LigTrait *trait = lig_traits_find (traits, json_array_get_string_element (names, i), n);
    if (trait && (trait->text || trait->number != 0 || i + 1 == count))
      return trait;
  }
  return NULL;
}

gboolean
lig_config_is_equal (JsonObject *rule, const LigTrait *trait, JsonNode *value)
{
  if (!JSON_NODE_HOLDS_VALUE (value))
    return FALSE;
  if (!trait->text)
    return !lig_config_is_string (value) &&
           (float) json_node_get_double (value) == (float) trait->number;
  gboolean truth = json_node_get_value_type (value) == G_TYPE_BOOLEAN;
  if (!truth && !lig_config_is_string (value))
    return FALSE;
  const char *text = !truth                          ? json_node_get_string (value)
                     : json_node_get_boolean (value) ? "true"
                                                     : "false";
  if (!json_object_has_member (rule, "texts"))
    return g_str_equal (text, trait->text);
  JsonNode *own = json_object_get_member (json_object_get_object_member (rule, "texts"), text);
  return lig_config_is_string (own) && g_str_equal (json_node_get_string (own), trait->text);
}

/* Returns the text of a value of the other program. */
static char *
describe_value (JsonNode *value)
{
  return JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_DOUBLE
           ? lig_config_format (json_node_get_double (value))
           : json_to_string (value, FALSE);
}

/* Returns a member of nested objects by its dotted path; null if it is missing or null. */
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

/* Checks the values that all models with these names have, or all weight files. */
static void
check_required (const LigModel *model, gboolean of_files, LigDifferences *all)
{
  const LigNames *names = model->names;
  for (guint i = 0; i < json_array_get_length (names->requires); i++) {
    JsonObject *rule = json_array_get_object_element (names->requires, i);
    const LigTrait *trait;
    JsonNode *constant = json_object_get_member (rule, "constant");
    const char *name =
      json_array_get_string_element (json_object_get_array_member (rule, "value"), 0);
    if (of_files && !json_object_get_boolean_member_with_default (rule, "of-files", FALSE))
      continue;
    for (guint n = 0; (trait = lig_traits_find (model->traits, name, n)); n++) {
      if (lig_config_is_equal (rule, trait, constant) ||
          lig_config_is_exception (model->traits, rule, trait->path))
        continue;
      g_autofree char *own = lig_config_describe (rule, trait);
      g_autofree char *theirs = describe_value (constant);
      lig_differences_add (all, _ ("%s of %s at %s is %s, the weights of %s need %s"), name,
                           trait->title, trait->path, own, names->name, theirs);
      break;
    }
  }
}

JsonObject *
lig_config_blocks (JsonObject *rule)
{
  return json_object_has_member (rule, "layers") ? json_object_get_object_member (rule, "layers")
                                                 : NULL;
}

/* Returns the value of a layer: that of the model, unless config.json overrides it for the layer,
 * by a list of the kinds of all layers, of which it sets that of the layer, or by the first layer
 * that has it. */
static JsonNode *
value_of_block (JsonObject *rule, JsonObject *config, guint n, JsonNode *value, JsonNode **of_block)
{
  JsonObject *blocks = lig_config_blocks (rule);
  if (!blocks)
    return value;
  JsonNode *kinds = find_member (config, json_object_get_string_member (blocks, "kinds"));
  JsonNode *from =
    find_member (config, json_object_get_string_member_with_default (blocks, "from", ""));
  JsonNode *otherwise = json_object_get_member (blocks, "otherwise");
  if (kinds && JSON_NODE_HOLDS_ARRAY (kinds)) {
    JsonArray *list = json_node_get_array (kinds);
    JsonNode *kind = n < json_array_get_length (list) ? json_array_get_element (list, n) : NULL;
    *of_block = kind;
    return kind && json_node_equal (kind, json_object_get_member (blocks, "kind")) ? value
                                                                                   : otherwise;
  }
  return from && JSON_NODE_HOLDS_VALUE (from) && (double) n < json_node_get_double (from)
           ? otherwise
           : value;
}

/* Rejects kinds of layers that no op computes. */
static gboolean
check_kinds (JsonObject *rule, JsonObject *config, LigDifferences *all)
{
  JsonObject *blocks = lig_config_blocks (rule);
  const char *key = blocks ? json_object_get_string_member (blocks, "kinds") : NULL;
  JsonNode *kinds = key ? find_member (config, key) : NULL;
  JsonArray *list = kinds && JSON_NODE_HOLDS_ARRAY (kinds) ? json_node_get_array (kinds) : NULL;
  for (guint i = 0; list && i < json_array_get_length (list); i++) {
    JsonNode *kind = json_array_get_element (list, i);
    JsonNode *other = json_object_get_member (blocks, "other");
    if (json_node_equal (kind, json_object_get_member (blocks, "kind")) ||
        json_node_equal (kind, other))
      continue;
    g_autofree char *theirs = describe_value (kind);
    g_autofree char *wanted = describe_value (other);
    lig_differences_add (all, _ ("%s has %s for layer %u, expected %s or %s"), key, theirs, i,
                         json_object_get_string_member (blocks, "kind"), wanted);
    return FALSE;
  }
  return TRUE;
}

/* Compares a member with all ops that have the trait; names the first that differs. */
static void
check_value (const LigModel *model,
             JsonObject *rule,
             JsonObject *config,
             const char *key,
             JsonNode *of_model,
             LigDifferences *all)
{
  const LigTrait *trait = NULL;
  if (!check_kinds (rule, config, all))
    return;
  for (guint n = 0; (trait = trait_of (model->traits, rule, n)); n++) {
    JsonNode *kind = NULL, *value = value_of_block (rule, config, n, of_model, &kind);
    if (lig_config_is_equal (rule, trait, value) ||
        lig_config_is_exception (model->traits, rule, trait->path))
      continue;
    g_autofree char *theirs = describe_value (value);
    g_autofree char *own = lig_config_describe (rule, trait);
    if (kind) {
      g_autofree char *of_block = describe_value (kind);
      lig_differences_add (all, _ ("%s is %s for layer %u (%s: %s), %s of %s at %s is %s"), key,
                           theirs, n,
                           json_object_get_string_member (lig_config_blocks (rule), "kinds"),
                           of_block, trait->name, trait->title, trait->path, own);
      return;
    }
    lig_differences_add (all, _ ("%s is %s, %s of %s at %s is %s"), key, theirs, trait->name,
                         trait->title, trait->path, own);
    return;
  }
}

/* Compares a member with a size of the model, if that has it. */
static void
check_size (
  const LigModel *model, JsonObject *rule, const char *key, JsonNode *value, LigDifferences *all)
{
  gint64 size = lig_config_size (model, rule);
  LigTrait trait = {.number = (double) size};
  if (size < 1 || lig_config_is_equal (rule, &trait, value))
    return;
  g_autofree char *theirs = describe_value (value);
  g_autofree char *own = lig_config_format (trait.number);
  lig_differences_add (all, _ ("%s is %s, expected %s (for %s)"), key, theirs, own,
                       json_object_get_string_member (rule, "size"));
}

/* Compares a member with the value, or the list of values, that models with these names have. */
static void
check_constant (JsonObject *rule, const char *key, JsonNode *value, LigDifferences *all)
{
  JsonNode *among = json_object_get_member (rule, "among");
  JsonNode *expected = among ? among : json_object_get_member (rule, "constant");
  JsonArray *list = among ? json_node_get_array (among) : NULL;
  for (guint i = 0; list && i < json_array_get_length (list); i++)
    if (json_node_equal (value, json_array_get_element (list, i)))
      return;
  if (!among && json_node_equal (value, expected))
    return;
  g_autofree char *theirs = describe_value (value);
  g_autofree char *wanted = describe_value (expected);
  lig_differences_add (all, _ ("%s is %s, expected %s"), key, theirs, wanted);
}

/* Returns the value of the first of a rule's members that config.json has, or the default of a
 * missing member; null if there is none. */
static JsonNode *
find_value (JsonObject *rule, JsonObject *config, const char **key)
{
  static const char *const lists[] = {"reads", "keys"};
  const char *by = json_object_get_string_member_with_default (rule, "switch", NULL);
  JsonNode *turned = by ? find_member (config, by) : NULL, *value = NULL;
  gboolean off = turned && JSON_NODE_HOLDS_VALUE (turned) &&
                 json_node_get_value_type (turned) == G_TYPE_BOOLEAN &&
                 !json_node_get_boolean (turned);
  for (guint l = G_N_ELEMENTS (lists); l-- > 0 && !value;) {
    JsonArray *keys = json_object_has_member (rule, lists[l])
                        ? json_object_get_array_member (rule, lists[l])
                        : NULL;
    for (guint k = 0; keys && !off && !value && k < json_array_get_length (keys); k++) {
      *key = json_array_get_string_element (keys, k);
      value = find_member (config, *key);
    }
  }
  if (value)
    return value;
  JsonArray *first =
    json_object_get_array_member (rule, json_object_has_member (rule, "keys") ? "keys" : "reads");
  *key = json_array_get_string_element (first, 0);
  return json_object_get_member (rule, "absent");
}

static void
check_config (const LigModel *model, JsonObject *config, LigDifferences *all)
{
  for (guint i = 0; i < json_array_get_length (model->names->config); i++) {
    JsonObject *rule = json_array_get_object_element (model->names->config, i);
    gboolean constant = json_object_has_member (rule, "constant");
    const char *key;
    /* The names of the tensors show which layers have them. */
    if (json_object_has_member (rule, "indices") ||
        !json_object_get_boolean_member_with_default (rule, "compared", !constant) ||
        !(json_object_has_member (rule, "value") ? lig_config_has_roles (model, rule)
                                                 : lig_config_applies (model, rule)))
      continue;
    JsonNode *value = find_value (rule, config, &key);
    if (!value)
      continue;
    if (json_object_has_member (rule, "value"))
      check_value (model, rule, config, key, value, all);
    else if (json_object_has_member (rule, "size"))
      check_size (model, rule, key, value, all);
    else
      check_constant (rule, key, value, all);
  }
}

gboolean
lig_config_check_required (const LigModel *model, GError **error)
{
  LigDifferences all = {0};
  check_required (model, FALSE, &all);
  return lig_differences_end (&all, _ ("the sequence does not fit the weights"), error);
}

gboolean
lig_config_compare (const LigModel *model, JsonObject *config, GError **error)
{
  LigDifferences all = {0};
  check_required (model, config == NULL, &all);
  const char *problem = all.count > 0   ? _ ("the sequence does not fit the weights")
                        : model->import ? _ ("config.json does not fit the sequence")
                                        : _ ("these names cannot describe the sequence");
  if (config)
    check_config (model, config, &all);
  return lig_differences_end (&all, problem, error);
}

/* Returns the config.json next to a file; null without an error if there is none. */
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

/* Returns whether a rule reads the member or a part of it. */
static gboolean
is_named (JsonObject *rule, const char *member)
{
  static const char *const lists[] = {"keys", "reads"};
  gsize length = strlen (member);
  for (guint l = 0; l < G_N_ELEMENTS (lists); l++) {
    JsonArray *keys = json_object_has_member (rule, lists[l])
                        ? json_object_get_array_member (rule, lists[l])
                        : NULL;
    for (guint k = 0; keys && k < json_array_get_length (keys); k++) {
      const char *key = json_array_get_string_element (keys, k);
      if (strncmp (key, member, length) == 0 && (key[length] == '\0' || key[length] == '.'))
        return TRUE;
    }
  }
  JsonObject *blocks = lig_config_blocks (rule);
  return g_str_equal (json_object_get_string_member_with_default (rule, "switch", ""), member) ||
         (blocks &&
          (g_str_equal (json_object_get_string_member (blocks, "kinds"), member) ||
           g_str_equal (json_object_get_string_member_with_default (blocks, "from", ""), member)));
}

/* Members that the configurations of all models may have, and that do not affect the
 * computation. */
static const char *const general[] = {"_attn_implementation",
                                      "_name_or_path",
                                      "attn_implementation",
                                      "auto_map",
                                      "bos_token_id",
                                      "dtype",
                                      "eos_token_id",
                                      "finetuning_task",
                                      "gradient_checkpointing",
                                      "id2label",
                                      "initializer_range",
                                      "label2id",
                                      "license",
                                      "output_attentions",
                                      "output_hidden_states",
                                      "pad_token_id",
                                      "pretraining_tp",
                                      "return_dict",
                                      "task_specific_params",
                                      "tokenizer_class",
                                      "torch_dtype",
                                      "transformers_version",
                                      "unk_token_id",
                                      "use_cache",
                                      NULL};

/* Notes the members that no rule reads and that are not known to be harmless: they may affect the
 * computation. */
static void
note_unknown (LigImport *import, JsonObject *config)
{
  const LigNames *names = import->names;
  g_autoptr (GString) unknown = g_string_new (NULL);
  JsonObjectIter iter;
  const char *member;
  JsonNode *node;
  json_object_iter_init_ordered (&iter, config);
  while (json_object_iter_next_ordered (&iter, &member, &node)) {
    gboolean known = JSON_NODE_HOLDS_NULL (node) || g_strv_contains (general, member) ||
                     g_strv_contains ((const char *const *) names->harmless, member);
    for (guint i = 0; !known && i < json_array_get_length (names->config); i++)
      known = is_named (json_array_get_object_element (names->config, i), member);
    if (!known)
      g_string_append_printf (unknown, "%s%s", unknown->len > 0 ? ", " : "", member);
  }
  if (unknown->len > 0)
    lig_import_note (import, _ ("config.json has members that are ignored: %s"), unknown->str);
}

gboolean
lig_config_check (LigImport *import, const GArray *traits, GError **error)
{
  LigModel model = {import->names, traits, import->roles, .import = import};
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonNode) root = read_config (import->file, &local);
  if (local) {
    g_propagate_error (error, g_steal_pointer (&local));
    return FALSE;
  }
  JsonObject *config = root ? json_node_get_object (root) : NULL;
  if (!lig_config_compare (&model, config, error))
    return FALSE;
  if (config)
    note_unknown (import, config);
  return TRUE;
}
