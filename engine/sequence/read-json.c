/* SPDX-License-Identifier: MIT */
/* Makes a sequence from the JSON of a .lig file. Files are not trusted: every error begins with the
 * JSON path of the rejected value. */
#include "engine/base/suggest.h"
#include "engine/sequence/literal.h"
#include "engine/sequence/reader.h"
#include <ligature/recipe.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define MAX_FUSIONS_OF_AN_OP 64
#define LONGEST_NAME 60  /* of an op or a type */
#define LONGEST_PATH 512 /* of an op */

/* --- Ops ---------------------------------------------------------------------------------- */

static gboolean
read_shape (LigReader *self, JsonNode *value, LigShape *shape)
{
  JsonArray *array = lig_reader_array (self, value);
  *shape = (LigShape){.n_axes = 0};
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    g_auto (GValue) length = G_VALUE_INIT;
    JsonNode *element = json_array_get_element (array, i);
    gsize outside = lig_reader_enter_element (self, i);
    if (!JSON_NODE_HOLDS_VALUE (element))
      return lig_reader_expected (self, _ ("a whole number"), element);
    json_node_get_value (element, &length);
    if (!lig_literal_add_axis (shape, &length, self->error))
      return lig_reader_place (self);
    lig_reader_leave (self, outside);
  }
  return array && (lig_literal_check_shape (shape, 0, self->error) || lig_reader_place (self));
}

static gboolean
read_param (LigReader *self, LigOp *op, const LigParam *param, JsonNode *value)
{
  g_auto (GValue) literal = G_VALUE_INIT;
  if (JSON_NODE_HOLDS_ARRAY (value)) {
    LigShape shape;
    if (!read_shape (self, value, &shape))
      return FALSE;
    g_value_init (&literal, LIG_TYPE_SHAPE);
    g_value_set_boxed (&literal, &shape);
  } else if (JSON_NODE_HOLDS_VALUE (value))
    json_node_get_value (value, &literal);
  else
    return lig_reader_expected (self, _ ("a number, a string, true, false or an array"), value);
  return lig_literal_set (op, param, &literal, self->error) || lig_reader_place (self);
}

static gboolean
read_ops (LigReader *self, JsonNode *value, LigSequence *sequence, guint depth, gint64 *total);

static gboolean
read_trained (LigReader *self, LigOp *op, JsonNode *value)
{
  g_auto (GValue) literal = G_VALUE_INIT;
  if (!JSON_NODE_HOLDS_VALUE (value))
    return lig_reader_expected (self, _ ("true or false"), value);
  json_node_get_value (value, &literal);
  return lig_literal_set_trained (op, &literal, self->error) || lig_reader_place (self);
}

/* Reads the members of an op's object that are parameters of the op or its ops. */
static gboolean
read_params (LigReader *self, JsonObject *object, LigOp *op)
{
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value)) {
    const LigParam *param = lig_literal_param (op, key);
    gsize outside = lig_reader_enter (self, key);
    if (strcmp (key, "trained") == 0 && !read_trained (self, op, value))
      return FALSE;
    if (!lig_literal_check_reserved (op, key, self->error))
      return lig_reader_place (self);
    if (!param && strcmp (key, "ops") == 0 && !lig_op_get_body (op))
      return lig_reader_reject (self, LIG_ERROR_OP, _ ("only a block has ops, this is %s"),
                                lig_op_get_name (op));
    if (param && !read_param (self, op, param, value))
      return FALSE;
    lig_reader_leave (self, outside);
  }
  return TRUE;
}

static gboolean
read_body (LigReader *self, JsonObject *object, LigOp *op, guint depth, gint64 *inside)
{
  if (!lig_op_get_body (op))
    return TRUE;
  gsize outside = lig_reader_enter (self, "ops");
  if (depth >= LIG_MAX_BLOCKS)
    return lig_reader_reject (self, LIG_ERROR_FORMAT,
                              _ ("blocks nest %u deep, at most %d levels are allowed"), depth + 1,
                              LIG_MAX_BLOCKS);
  JsonNode *ops = json_object_get_member (object, "ops");
  if (!read_ops (self, ops, lig_op_get_body (op), depth + 1, inside))
    return FALSE;
  lig_reader_leave (self, outside);
  return TRUE;
}

static LigOp *
new_op (LigReader *self, const char *name)
{
  gsize outside = lig_reader_enter (self, "op");
  LigOp *op = NULL;
  if (strlen (name) > LONGEST_NAME)
    lig_reader_reject (self, LIG_ERROR_OP,
                       g_dngettext (GETTEXT_PACKAGE, "no op has a name of %zu byte",
                                    "no op has a name of %zu bytes", (gulong) (strlen (name))),
                       strlen (name));
  else
    op = lig_op_new (name, self->error);
  if (op)
    lig_reader_leave (self, outside);
  else if (strlen (name) <= LONGEST_NAME)
    lig_reader_place (self);
  return op;
}

/* Reads an op and adds it to `sequence` and to the count of ops. */
static gboolean
read_op (LigReader *self, JsonNode *value, LigSequence *sequence, guint depth, gint64 *total)
{
  static const char *const keys[] = {"op", "trained", NULL};
  gint64 inside = 0;
  JsonObject *object = lig_reader_object (self, value);
  const char *name = object ? lig_reader_member (self, object, "op") : NULL;
  if (!name)
    return FALSE;
  g_autoptr (LigOp) op = new_op (self, name);
  if (!op)
    return FALSE;
  if (!read_params (self, object, op) || !read_body (self, object, op, depth, &inside))
    return FALSE;
  if (!lig_literal_count (op, inside, total, self->error)) {
    if (lig_op_get_body (op))
      lig_reader_enter (self, "repeat");
    return lig_reader_place (self);
  }
  g_autoptr (JsonObject) unknown = lig_reader_gather_unknown (self, object, keys, op);
  if (unknown) {
    g_autofree char *text = lig_reader_text (unknown);
    lig_op_set_unknown (op, text);
  }
  return lig_sequence_append (sequence, op, self->error);
}

static gboolean
read_ops (LigReader *self, JsonNode *value, LigSequence *sequence, guint depth, gint64 *total)
{
  JsonArray *array = lig_reader_array (self, value);
  if (!array)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (array); i++) {
    gsize outside = lig_reader_enter_element (self, i);
    if (!read_op (self, json_array_get_element (array, i), sequence, depth, total))
      return FALSE;
    lig_reader_leave (self, outside);
  }
  return TRUE;
}

/* --- The rest of a file ------------------------------------------------------------------- */

static gboolean
read_version (LigReader *self, JsonObject *root)
{
  JsonNode *value = json_object_get_member (root, "ligature");
  gsize outside = lig_reader_enter (self, "ligature");
  if (!value || json_node_get_value_type (value) != G_TYPE_INT64)
    return lig_reader_expected (self, _ ("the version 1"), value);
  gint64 version = json_node_get_int (value);
  if (version > 1)
    return lig_reader_reject (
      self, LIG_ERROR_FORMAT,
      _ ("version %" PRId64 " is newer than 1, the newest that this library reads"), version);
  if (version < 1)
    return lig_reader_reject (self, LIG_ERROR_FORMAT, _ ("version %" PRId64 ", expected 1"),
                              version);
  lig_reader_leave (self, outside);
  return TRUE;
}

/* Keeps the unknown members of a part other than an op under `key`. */
static void
keep_unknown (LigReader *self, const char *key, JsonObject *object, const char *const *keys)
{
  JsonObject *unknown = lig_reader_gather_unknown (self, object, keys, NULL);
  if (unknown)
    json_object_set_object_member (self->unknown, key, unknown);
}

static const char *
get_dtype_name (guint n)
{
  return n < LIG_N_DTYPES ? lig_dtype_name ((LigDtype) n) : NULL;
}

/* Reads the type in member `key`; without such a member `type` is unchanged. */
static gboolean
read_dtype (LigReader *self, JsonObject *object, const char *key, gboolean floating, int *type)
{
  LigDtype dtype;
  if (!json_object_has_member (object, key))
    return TRUE;
  gsize outside = lig_reader_enter (self, key);
  const char *name = lig_reader_string (self, json_object_get_member (object, key));
  if (!name)
    return FALSE;
  if (!lig_dtype_from_name (name, &dtype)) {
    g_autofree char *like = lig_suggest_nth (name, get_dtype_name);
    return lig_reader_reject (self, LIG_ERROR_DTYPE, _ ("element type '%s' is unknown%s"),
                              strlen (name) > LONGEST_NAME ? "…" : name, like);
  }
  if (floating && !lig_dtype_is_floating (dtype))
    return lig_reader_reject (self, LIG_ERROR_DTYPE, _ ("expected %s, got %s"),
                              lig_dtype_names (lig_dtypes_with (LIG_DTYPE_COMPUTES), _ (" or ")),
                              name);
  lig_reader_leave (self, outside);
  *type = (int) dtype;
  return TRUE;
}

static gboolean
read_input (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  static const char *const keys[] = {"shape", "dtype", NULL};
  LigShape shape;
  int dtype = LIG_FP32;
  JsonObject *object = lig_reader_object (self, value);
  if (!object || !read_dtype (self, object, "dtype", FALSE, &dtype))
    return FALSE;
  gsize outside = lig_reader_enter (self, "shape");
  if (!read_shape (self, json_object_get_member (object, "shape"), &shape))
    return FALSE;
  if (!lig_sequence_check_input (&shape, (LigDtype) dtype, self->error))
    return lig_reader_place (self);
  lig_reader_leave (self, outside);
  lig_sequence_set_input (sequence, &shape, (LigDtype) dtype);
  keep_unknown (self, "input", object, keys);
  return TRUE;
}

/* Reads the type of parameters, which may also be kept in fp8. */
static gboolean
read_parameters (LigReader *self, JsonObject *object, int *type)
{
  JsonNode *node = json_object_get_member (object, "parameters");
  gboolean text =
    node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  if (text && g_str_equal (json_node_get_string (node), LIG_FP8_PARAMETERS))
    return lig_parameters_from_name (LIG_FP8_PARAMETERS, type);
  return read_dtype (self, object, "parameters", TRUE, type);
}

static gboolean
read_types (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  static const char *const keys[] = {"compute", "parameters", NULL};
  int compute = -1, parameters = -1;
  JsonObject *object = lig_reader_object (self, value);
  if (!object || !read_dtype (self, object, "compute", TRUE, &compute) ||
      !read_parameters (self, object, &parameters))
    return FALSE;
  lig_sequence_set_types (sequence, compute, parameters);
  keep_unknown (self, "types", object, keys);
  return TRUE;
}

static gboolean
read_name (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  const char *name = lig_reader_string (self, value);
  glong length = name ? g_utf8_strlen (name, -1) : 0;
  if (length > LIG_SEQUENCE_LONGEST_NAME)
    return lig_reader_reject (self, LIG_ERROR_VALUE,
                              _ ("the name has %ld characters, at most %d are allowed"), length,
                              LIG_SEQUENCE_LONGEST_NAME);
  if (name)
    lig_sequence_set_name (sequence, name);
  return name != NULL;
}

/* Sets a parameter of a recipe from a number, a string, true or false. */
static gboolean
read_recipe_param (LigReader *self, LigRecipe *recipe, const char *name, JsonNode *value)
{
  gsize outside = lig_reader_enter (self, name);
  g_autofree char *text = NULL;
  if (!JSON_NODE_HOLDS_VALUE (value))
    return lig_reader_expected (self, _ ("a number, a string, true or false"), value);
  if (json_node_get_value_type (value) == G_TYPE_STRING)
    text = g_strdup (json_node_get_string (value));
  else
    text = json_to_string (value, FALSE);
  if (!lig_recipe_set (recipe, name, text, self->error))
    return lig_reader_place (self);
  lig_reader_leave (self, outside);
  return TRUE;
}

static gboolean
read_recipe (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  LigRecipe recipe;
  JsonObject *object = lig_reader_object (self, value);
  const char *name = object ? lig_reader_member (self, object, "name") : NULL;
  if (!name)
    return FALSE;
  gsize outside = lig_reader_enter (self, "name");
  /* Only a recipe's name: parameters are members of the object. */
  if (strchr (name, ':'))
    return lig_reader_reject (self, LIG_ERROR_VALUE,
                              _ ("expected the name of a recipe, got '%.60s'"), name);
  if (!lig_recipe_parse (&recipe, name, self->error))
    return lig_reader_place (self);
  lig_reader_leave (self, outside);
  g_autoptr (GList) members = json_object_get_members (object);
  for (GList *at = members; at; at = at->next)
    if (!g_str_equal (at->data, "name") &&
        !read_recipe_param (self, &recipe, at->data, json_object_get_member (object, at->data)))
      return FALSE;
  g_autofree char *text = lig_recipe_format (&recipe);
  return lig_sequence_set_recipe (sequence, text, self->error);
}

static gboolean
read_train (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  if (!lig_reader_object (self, value))
    return FALSE;
  g_autofree char *text = lig_reader_text (json_node_get_object (value));
  lig_sequence_set_train (sequence, text);
  return TRUE;
}

/* Returns the op whose path is the string `value`. */
static LigOp *
find_op (LigReader *self, LigSequence *sequence, JsonNode *value)
{
  const char *path = lig_reader_string (self, value);
  if (!path)
    return NULL;
  if (strlen (path) > LONGEST_PATH) {
    lig_reader_reject (self, LIG_ERROR_INDEX,
                       g_dngettext (GETTEXT_PACKAGE, "no op has a path of %zu byte",
                                    "no op has a path of %zu bytes", (gulong) (strlen (path))),
                       strlen (path));
    return NULL;
  }
  LigOp *op = lig_sequence_find (sequence, path, self->error);
  if (!op)
    lig_reader_place (self);
  return op;
}

static gboolean
read_fences (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  JsonArray *array = lig_reader_array (self, value);
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    gsize outside = lig_reader_enter_element (self, i);
    LigOp *op = find_op (self, sequence, json_array_get_element (array, i));
    if (!op)
      return FALSE;
    lig_op_set_fence (op, TRUE);
    lig_reader_leave (self, outside);
  }
  return array != NULL;
}

/* Adds a name to a list. The whole list is copied each time, hence the limit on its length. */
static gboolean
add_fusion (LigReader *self, LigOp *op, const char *fusion, gboolean force)
{
  const char *const *old = force ? lig_op_get_forced (op) : lig_op_get_forbidden (op);
  guint count = g_strv_length ((GStrv) old);
  if (g_strv_contains (old, fusion))
    return TRUE;
  if (count == MAX_FUSIONS_OF_AN_OP)
    return lig_reader_reject (self, LIG_ERROR_FUSION,
                              _ ("one op has %u such fusions, at most %d are allowed"), count + 1,
                              MAX_FUSIONS_OF_AN_OP);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_strv_builder_addv (builder, (const char **) old);
  g_strv_builder_add (builder, fusion);
  g_auto (GStrv) list = g_strv_builder_end (builder);
  if (force)
    lig_op_set_forced (op, (const char *const *) list);
  else
    lig_op_set_forbidden (op, (const char *const *) list);
  return TRUE;
}

/* Stores the unknown keys of an entry with a path in its op, so that they move with the op: among
 * the op's unknown keys under `$forbid` or `$force`, by the fusion's name. */
static void
keep_unknown_constraint (LigReader *self, JsonObject *entry, LigOp *op, const char *list)
{
  static const char *const keys[] = {"fusion", "at", NULL};
  g_autoptr (JsonObject) unknown = lig_reader_gather_unknown (self, entry, keys, NULL);
  if (!unknown)
    return;
  JsonObject *owner = self->unknown;
  g_autoptr (JsonNode) kept = NULL;
  if (op) {
    kept = lig_op_get_unknown (op) ? lig_json_from_text (lig_op_get_unknown (op), NULL) : NULL;
    if (!kept || !JSON_NODE_HOLDS_OBJECT (kept)) {
      g_clear_pointer (&kept, json_node_unref);
      kept = lig_json_from_text ("{}", NULL);
    }
    owner = json_node_get_object (kept);
  }
  JsonNode *constraints = json_object_get_member (owner, list);
  if (!constraints || !JSON_NODE_HOLDS_OBJECT (constraints))
    json_object_set_object_member (owner, list, json_object_new ());
  json_object_set_object_member (json_object_get_object_member (owner, list),
                                 json_object_get_string_member (entry, "fusion"),
                                 g_steal_pointer (&unknown));
  if (op) {
    g_autofree char *text = lig_reader_text (owner);
    lig_op_set_unknown (op, text);
  }
}

/* Reads one entry of `forbid` or `force`; an entry without a path is added to `everywhere`. */
static gboolean
read_constraint (
  LigReader *self, JsonNode *value, LigSequence *sequence, gboolean force, GPtrArray *everywhere)
{
  LigOp *op = NULL;
  JsonObject *entry = lig_reader_object (self, value);
  const char *fusion = entry ? lig_reader_member (self, entry, "fusion") : NULL;
  if (!fusion)
    return FALSE;
  if (!*fusion) {
    lig_reader_enter (self, "fusion");
    return lig_reader_reject (self, LIG_ERROR_FUSION, _ ("expected a fusion's name, got \"\""));
  }
  if (force || json_object_has_member (entry, "at")) {
    gsize outside = lig_reader_enter (self, "at");
    op = find_op (self, sequence, json_object_get_member (entry, "at"));
    if (!op)
      return FALSE;
    lig_reader_leave (self, outside);
    if (!add_fusion (self, op, fusion, force))
      return FALSE;
  } else
    g_ptr_array_add (everywhere, (gpointer) fusion);
  keep_unknown_constraint (self, entry, op, force ? "$force" : "$forbid");
  return TRUE;
}

static gboolean
read_constraints (LigReader *self, JsonNode *value, LigSequence *sequence, gboolean force)
{
  JsonArray *array = lig_reader_array (self, value);
  g_autoptr (GPtrArray) everywhere = g_ptr_array_new ();
  g_autoptr (GPtrArray) once = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    gsize outside = lig_reader_enter_element (self, i);
    if (!read_constraint (self, json_array_get_element (array, i), sequence, force, everywhere))
      return FALSE;
    lig_reader_leave (self, outside);
  }
  for (guint i = 0; i < everywhere->len; i++)
    if (g_hash_table_add (seen, everywhere->pdata[i]))
      g_ptr_array_add (once, everywhere->pdata[i]);
  g_ptr_array_add (once, NULL);
  if (once->len > 1)
    lig_sequence_set_forbidden (sequence, (const char *const *) once->pdata);
  return array != NULL;
}

static gboolean
read_forbid (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  return read_constraints (self, value, sequence, FALSE);
}

static gboolean
read_force (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  return read_constraints (self, value, sequence, TRUE);
}

static gboolean
read_all_ops (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  gint64 total = 0;
  return read_ops (self, value, sequence, 0, &total);
}

/* In this order: parts that refer to ops follow the ops. */
static const struct {
  const char *key;
  gboolean (*read) (LigReader *self, JsonNode *value, LigSequence *sequence);
} parts[] = {
  {"name", read_name},     {"input", read_input}, {"types", read_types},
  {"recipe", read_recipe}, {"ops", read_all_ops}, {"fences", read_fences},
  {"forbid", read_forbid}, {"force", read_force}, {"train", read_train},
};

static gboolean
read_root (LigReader *self, JsonNode *value, LigSequence *sequence)
{
  const char *keys[G_N_ELEMENTS (parts) + 2] = {"ligature"};
  JsonObject *root = lig_reader_object (self, value);
  if (!root || !read_version (self, root))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    JsonNode *part = json_object_get_member (root, parts[i].key);
    keys[i + 1] = parts[i].key;
    gsize outside = lig_reader_enter (self, parts[i].key);
    if ((part || strcmp (parts[i].key, "ops") == 0) && !parts[i].read (self, part, sequence))
      return FALSE;
    lig_reader_leave (self, outside);
  }
  g_autoptr (JsonObject) unknown = lig_reader_gather_unknown (self, root, keys, NULL);
  JsonObjectIter iter;
  const char *key;
  JsonNode *member;
  if (unknown) {
    json_object_iter_init_ordered (&iter, unknown);
    while (json_object_iter_next_ordered (&iter, &key, &member))
      json_object_set_member (self->unknown, key, json_node_copy (member));
  }
  if (json_object_get_size (self->unknown) > 0) {
    g_autofree char *text = lig_reader_text (self->unknown);
    lig_sequence_set_unknown (sequence, text);
  }
  return TRUE;
}

static GStrv
take_warnings (LigReader *self)
{
  if (self->warnings->len == 0)
    return NULL;
  if (self->n_silent > 0)
    g_ptr_array_add (
      self->warnings,
      g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%u more unknown key, kept",
                                    "%u more unknown keys, kept", (gulong) self->n_silent),
                       self->n_silent));
  g_ptr_array_add (self->warnings, NULL);
  return (GStrv) g_ptr_array_steal (self->warnings, NULL);
}

LigSequence *
lig_sequence_read (
  const char *text, gsize length, const char *file, GStrv *warnings, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GString) path = g_string_new ("$");
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (JsonObject) unknown = json_object_new ();
  g_autoptr (LigSequence) sequence = lig_sequence_new ();
  LigReader reader = {path, list, 0, unknown, &local};
  g_autoptr (JsonNode) root = lig_json_read (text, length, file, error);
  if (!root)
    return NULL;
  if (!read_root (&reader, root, sequence)) {
    if (file)
      g_prefix_error (&local, "%s: ", file);
    g_propagate_error (error, g_steal_pointer (&local));
    return NULL;
  }
  if (warnings)
    *warnings = take_warnings (&reader);
  return g_steal_pointer (&sequence);
}
