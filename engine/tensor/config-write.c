/* SPDX-License-Identifier: MIT */
/* Makes the config.json that belongs to exported weights. */
#include "engine/tensor/config.h"

#include <ligature/json.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* Returns whether a layer's value is that of the layers that lack the value of a rule. */
static gboolean
is_otherwise (JsonObject *rule, const LigTrait *trait)
{
  JsonObject *blocks = lig_config_blocks (rule);
  return blocks && lig_config_is_equal (rule, trait, json_object_get_member (blocks, "otherwise"));
}

/* Returns a trait of the same name with another value, unless only some layers have the rule's, or
 * null. */
static const LigTrait *
find_other (const GArray *traits, JsonObject *rule, const LigTrait *trait)
{
  for (guint i = 0; i < traits->len; i++) {
    const LigTrait *one = &g_array_index (traits, LigTrait, i);
    if (g_str_equal (one->name, trait->name) && !is_otherwise (rule, one) &&
        (one->number != trait->number || g_strcmp0 (one->text, trait->text) != 0))
      return one;
  }
  return NULL;
}

/* Returns the trait that a rule writes: the first of its names that has one and is not 0; of traits
 * that some layers lack, the first that they have. */
static const LigTrait *
find_trait (const GArray *traits, JsonObject *rule)
{
  JsonArray *names = json_object_get_array_member (rule, "value");
  const LigTrait *trait = NULL;
  for (guint i = 0; i < json_array_get_length (names); i++) {
    const LigTrait *one = NULL;
    const char *name = json_array_get_string_element (names, i);
    for (guint n = 0; (one = lig_traits_find (traits, name, n)) && is_otherwise (rule, one);)
      n++;
    if (one && (!trait || (!trait->text && trait->number == 0)))
      trait = one;
  }
  return trait;
}

/* Returns a number as an integer, or with as few digits as an fp32 needs. The
 * configurations of transformers are typed and reject an integer where they expect a float. */
static JsonNode *
number_node (double number, gboolean floating)
{
  JsonNode *node = json_node_new (JSON_NODE_VALUE);
  if (!floating && number == floor (number) && fabs (number) < 1e15) {
    json_node_set_int (node, (gint64) number);
    return node;
  }
  g_autofree char *text = lig_config_format (number);
  json_node_set_double (node, g_ascii_strtod (text, NULL));
  return node;
}

/* Returns the parameter by which the value of a rule is multiplied. */
static double
get_factor (const LigModel *model, JsonObject *rule)
{
  const char *name = json_object_get_string_member_with_default (rule, "times", NULL);
  const LigTrait *trait = name ? lig_traits_find (model->traits, name, 0) : NULL;
  return trait ? trait->number : 1;
}

/* Returns the value of a rule that names traits; null with the error set if no trait fits. */
static JsonNode *
value_node (const LigModel *model, JsonObject *rule, GError **error)
{
  JsonArray *names = json_object_get_array_member (rule, "value");
  const LigTrait *trait = find_trait (model->traits, rule);
  JsonNode *otherwise = json_object_get_member (rule, "otherwise");
  if (!trait && otherwise)
    return json_node_copy (otherwise);
  if (!trait) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("no op of the sequence has %s, which the names of %s need"),
                 json_array_get_string_element (names, 0), model->names->name);
    return NULL;
  }
  const LigTrait *other = find_other (model->traits, rule, trait);
  if (other) {
    g_autofree char *one = lig_config_describe (rule, trait);
    g_autofree char *two = lig_config_describe (rule, other);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s of %s at %s is %s, at %s it is %s; models with the names of %s have one "
                    "for all layers"),
                 trait->name, trait->title, trait->path, one, other->path, two, model->names->name);
    return NULL;
  }
  if (!trait->text)
    return number_node (trait->number * get_factor (model, rule), trait->floating);
  const char *theirs = lig_config_their_text (rule, trait->text);
  if (!theirs) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s of %s at %s is %s, which %s does not have"),
                 trait->name, trait->title, trait->path, trait->text, model->names->title);
    return NULL;
  }
  return lig_config_is_truth (theirs)
           ? json_node_init_boolean (json_node_alloc (), g_str_equal (theirs, "true"))
           : json_node_init_string (json_node_alloc (), theirs);
}

/* Returns the list of the layers that have a role. */
static JsonNode *
indices_node (const LigModel *model, JsonObject *rule)
{
  const char *role = json_object_get_string_member (rule, "indices");
  g_autoptr (JsonArray) list = json_array_new ();
  for (guint i = 0; i < model->roles->len; i++) {
    const LigRole *one = &g_array_index (model->roles, LigRole, i);
    if (g_strcmp0 (one->role, role) == 0)
      json_array_add_int_element (list, one->depth);
  }
  return json_node_init_array (json_node_alloc (), list);
}

static JsonNode *
size_node (const LigModel *model, JsonObject *rule, GError **error)
{
  const char *size = json_object_get_string_member (rule, "size");
  gint64 length = lig_config_size (model, rule);
  if (length > 0)
    return number_node ((double) length, FALSE);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the sequence has no %s, which the names of %s need"), size, model->names->name);
  return NULL;
}

/* Sets a member of nested objects by its dotted path. */
static void
set_member (JsonObject *object, const char *path, JsonNode *value)
{
  g_auto (GStrv) keys = g_strsplit (path, ".", -1);
  char **key = keys;
  for (; key[1]; key++) {
    if (!json_object_has_member (object, *key))
      json_object_set_object_member (object, *key, json_object_new ());
    object = json_object_get_object_member (object, *key);
  }
  json_object_set_member (object, *key, value);
}

/* Writes the list of the kinds of layers. Returns whether any has the value of the rule. */
static gboolean
write_kinds (const LigModel *model, JsonObject *rule, JsonObject *to)
{
  JsonObject *blocks = lig_config_blocks (rule);
  const char *name =
    json_array_get_string_element (json_object_get_array_member (rule, "value"), 0);
  JsonArray *kinds = json_array_new ();
  const LigTrait *trait;
  gboolean any = FALSE;
  for (guint n = 0; (trait = lig_traits_find (model->traits, name, n)); n++) {
    gboolean has = !is_otherwise (rule, trait);
    any |= has;
    json_array_add_string_element (kinds,
                                   json_object_get_string_member (blocks, has ? "kind" : "other"));
  }
  JsonNode *node = json_node_new (JSON_NODE_ARRAY);
  json_node_take_array (node, kinds);
  set_member (to, json_object_get_string_member (blocks, "kinds"), node);
  return any;
}

static gboolean
write_rule (const LigModel *model, JsonObject *rule, JsonObject *to, GError **error)
{
  JsonNode *constant = json_object_get_member (rule, "constant");
  if (!json_object_has_member (rule, "keys") || json_object_has_member (rule, "among") ||
      !lig_config_applies (model, rule))
    return TRUE;
  if (lig_config_blocks (rule) && !write_kinds (model, rule, to))
    return TRUE;
  g_autoptr (JsonNode) value =
    constant                                   ? json_node_copy (constant)
    : json_object_has_member (rule, "indices") ? indices_node (model, rule)
    : json_object_has_member (rule, "size")    ? size_node (model, rule, error)
                                               : value_node (model, rule, error);
  JsonArray *keys = json_object_get_array_member (rule, "keys");
  for (guint i = 0; value && i < json_array_get_length (keys); i++)
    set_member (to, json_array_get_string_element (keys, i), json_node_copy (value));
  return value != NULL;
}

char *
lig_config_make (const LigNames *names,
                 LigTensorFile *file,
                 const GArray *traits,
                 gint64 length,
                 gint64 vocabulary,
                 GError **error)
{
  g_autoptr (GArray) roles = lig_roles_of_file (file);
  LigModel model = {names, traits, roles, NULL, length, vocabulary};
  g_autoptr (JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  g_autoptr (JsonObject) object = json_object_new ();
  json_node_set_object (root, object);
  if (!lig_config_check_required (&model, error))
    return NULL;
  for (guint i = 0; i < json_array_get_length (names->config); i++)
    if (!write_rule (&model, json_array_get_object_element (names->config, i), object, error))
      return NULL;
  return lig_config_compare (&model, object, error) ? lig_json_to_text (root) : NULL;
}
