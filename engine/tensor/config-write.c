/* SPDX-License-Identifier: MIT */
/* Makes the config.json that belongs to exported weights. */
#include "engine/tensor/config.h"

#include <ligature/json.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

typedef struct {
  const LigNames *names;
  const GArray *traits, *roles;
  gint64 length, vocabulary;
} Maker;

static const LigTrait *
find_trait (const GArray *traits, const char *name)
{
  for (guint i = 0; i < traits->len; i++)
    if (g_str_equal (g_array_index (traits, LigTrait, i).name, name))
      return &g_array_index (traits, LigTrait, i);
  return NULL;
}

/* Returns a trait of the same name with another value, null if there is none. */
static const LigTrait *
find_other (const GArray *traits, const LigTrait *trait)
{
  for (guint i = 0; i < traits->len; i++) {
    const LigTrait *one = &g_array_index (traits, LigTrait, i);
    if (g_str_equal (one->name, trait->name) &&
        (one->number != trait->number || g_strcmp0 (one->text, trait->text) != 0))
      return one;
  }
  return NULL;
}

/* Returns a number as it is written: whole, or with as few digits as an fp32 needs. */
static JsonNode *
number_node (double number)
{
  JsonNode *node = json_node_new (JSON_NODE_VALUE);
  if (number == floor (number) && fabs (number) < 1e15) {
    json_node_set_int (node, (gint64) number);
    return node;
  }
  g_autofree char *text = lig_config_format (number);
  json_node_set_double (node, g_ascii_strtod (text, NULL));
  return node;
}

/* Returns the value of a rule that names traits; null with the error set if none suits. */
static JsonNode *
value_node (const Maker *maker, JsonObject *rule, GError **error)
{
  JsonArray *names = json_object_get_array_member (rule, "value");
  const LigTrait *trait = NULL;
  for (guint i = 0; i < json_array_get_length (names); i++) {
    const LigTrait *one = find_trait (maker->traits, json_array_get_string_element (names, i));
    if (one && (!trait || (!trait->text && trait->number == 0)))
      trait = one;
  }
  if (!trait) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("no op of the sequence has %s, which the names of %s need"),
                 json_array_get_string_element (names, 0), maker->names->name);
    return NULL;
  }
  const LigTrait *other = find_other (maker->traits, trait);
  if (other) {
    g_autofree char *one = lig_config_describe (rule, trait);
    g_autofree char *two = lig_config_describe (rule, other);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s of %s at %s is %s, at %s it is %s; models with the names of %s have one "
                    "for all layers"),
                 trait->name, trait->title, trait->path, one, other->path, two, maker->names->name);
    return NULL;
  }
  if (!trait->text)
    return number_node (trait->number);
  const char *theirs = lig_config_their_text (rule, trait->text);
  if (!theirs) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s of %s at %s is %s, which %s does not have"),
                 trait->name, trait->title, trait->path, trait->text, maker->names->title);
    return NULL;
  }
  return json_node_init_string (json_node_alloc (), theirs);
}

static gint64
count_depth (const GArray *roles)
{
  int most = -1;
  for (guint i = 0; i < roles->len; i++)
    most = MAX (most, g_array_index (roles, LigRole, i).depth);
  return most + 1;
}

static JsonNode *
size_node (const Maker *maker, JsonObject *rule, GError **error)
{
  const char *size = json_object_get_string_member (rule, "size");
  gint64 axis = json_object_get_int_member_with_default (rule, "axis", 0);
  const char *per = json_object_get_string_member_with_default (rule, "per", NULL);
  const LigTrait *divisor = per ? find_trait (maker->traits, per) : NULL;
  const LigRole *role = lig_roles_find (maker->roles, size, 0);
  gboolean rows = maker->vocabulary > 0 && axis == 0 && g_str_equal (size, "embedding.weight");
  gint64 length = g_str_equal (size, "layers")                     ? count_depth (maker->roles)
                  : g_str_equal (size, "input")                    ? maker->length
                  : role && axis >= 0 && axis < role->shape.n_axes ? role->shape.axes[axis]
                                                                   : 0;
  if (length < 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence has no %s, which the names of %s need"), size,
                 maker->names->name);
    return NULL;
  }
  length = rows ? MIN (length, maker->vocabulary) : length;
  return number_node ((double) (length / (divisor ? MAX ((gint64) divisor->number, 1) : 1)));
}

/* Returns whether the rule applies: by the roles that must be there, and by a trait. */
static gboolean
applies (const Maker *maker, JsonObject *rule)
{
  const char *with = json_object_get_string_member_with_default (rule, "with", NULL);
  const char *without = json_object_get_string_member_with_default (rule, "without", NULL);
  const char *unless = json_object_get_string_member_with_default (rule, "unless", "");
  g_auto (GStrv) pair = g_strsplit (unless, "=", 2);
  const LigTrait *trait = *pair && pair[1] ? find_trait (maker->traits, pair[0]) : NULL;
  return (!with || lig_roles_find (maker->roles, with, 0)) &&
         (!without || !lig_roles_find (maker->roles, without, 0)) &&
         (!trait || g_strcmp0 (trait->text, pair[1]) != 0);
}

/* Sets a member of nested objects by its path with points. */
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

static gboolean
write_rule (const Maker *maker, JsonObject *rule, JsonObject *to, GError **error)
{
  JsonNode *constant = json_object_get_member (rule, "constant");
  if (!json_object_has_member (rule, "keys") || !applies (maker, rule))
    return TRUE;
  g_autoptr (JsonNode) value = constant ? json_node_copy (constant)
                               : json_object_has_member (rule, "size")
                                 ? size_node (maker, rule, error)
                                 : value_node (maker, rule, error);
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
  Maker maker = {names, traits, roles, length, vocabulary};
  g_autoptr (JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  g_autoptr (JsonObject) object = json_object_new ();
  json_node_set_object (root, object);
  if (!lig_config_check_required (traits, names, FALSE, error))
    return NULL;
  for (guint i = 0; i < json_array_get_length (names->config); i++)
    if (!write_rule (&maker, json_array_get_object_element (names->config, i), object, error))
      return NULL;
  return lig_json_to_text (root);
}
