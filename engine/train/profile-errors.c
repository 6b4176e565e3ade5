/* SPDX-License-Identifier: MIT */
/* The errors of recipes as JSON, and their storage with the profiles of the comparison. */
#include "engine/store/errors.h"
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/profile.h>
#include <ligature/recipe.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#define INFINITE "infinite"

/* Adds an error. JSON has no infinite numbers: documents have null instead, the store a word. */
static void
add_error (JsonBuilder *to, const char *name, double error, gboolean stored)
{
  if (stored && isinf (error))
    lig_json_add_text (to, name, INFINITE);
  else
    lig_json_add_number (to, name, error);
}

static void
add_ops (JsonBuilder *to, const LigRecipeErrors *errors, gboolean stored)
{
  json_builder_begin_array (to);
  for (guint n = 0; n < errors->n_ops; n++) {
    const LigOpErrors *op = &errors->ops[n];
    json_builder_begin_object (to);
    lig_json_add_text (to, "path", op->path);
    lig_json_add_text (to, "op", op->op);
    lig_json_add_text (to, "written", op->written);
    lig_json_add_text (to, "title", op->title);
    lig_json_add_text (to, "recipe", op->recipe);
    lig_json_add_text (to, "unquantized", op->unquantized);
    add_error (to, "output", op->output, stored);
    add_error (to, "gradient", op->gradient, stored);
    add_error (to, "parameters", op->parameters, stored);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

JsonNode *
lig_profile_errors_to_json (GPtrArray *errors)
{
  g_return_val_if_fail (errors, NULL);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < errors->len; i++) {
    const LigRecipeErrors *recipe = errors->pdata[i];
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "recipe", recipe->recipe);
    lig_json_add_number (builder, "output", recipe->output);
    lig_json_add_number (builder, "gradient", recipe->gradient);
    lig_json_add_integer (builder, "bytes", recipe->bytes);
    json_builder_set_member_name (builder, "ops");
    add_ops (builder, recipe, FALSE);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  return json_builder_get_root (builder);
}

/* --- Writing ------------------------------------------------------------------------------- */

/* Returns the recipe with its parameters in canonical order, like plans do. */
static char *
normalize (const char *text)
{
  LigRecipe recipe;
  return lig_recipe_parse (&recipe, text, NULL) ? lig_recipe_format (&recipe) : g_strdup (text);
}

static const LigRecipeErrors *
find_errors (GPtrArray *errors, const char *recipe)
{
  g_autofree char *wanted = normalize (recipe);
  for (guint i = 0; i < errors->len; i++) {
    const LigRecipeErrors *one = errors->pdata[i];
    g_autofree char *name = normalize (one->recipe);
    if (g_str_equal (name, wanted))
      return one;
  }
  return NULL;
}

static gboolean
put (LigStore *store,
     const char *run,
     const char *comparison,
     const LigRecipeErrors *errors,
     GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  add_ops (builder, errors, TRUE);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *ops = json_to_string (root, FALSE);
  const LigRecipeErrorRow row = {.run = (char *) run,
                                 .comparison = (char *) comparison,
                                 .recipe = errors->recipe,
                                 .ops = ops,
                                 .output = errors->output,
                                 .gradient = errors->gradient,
                                 .bytes = errors->bytes};
  return lig_store_put_errors (store, &row, error);
}

gboolean
lig_profile_record_errors (GPtrArray *profiles, GPtrArray *errors, LigStore *store, GError **error)
{
  g_return_val_if_fail (profiles && errors && LIG_IS_STORE (store), FALSE);
  g_autofree char *comparison = g_uuid_string_random ();
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    const char *recipe = lig_plan_get_recipe (profile->plan);
    const LigRecipeErrors exact = {.recipe = (char *) "none"};
    const LigRecipeErrors *found = find_errors (errors, recipe);
    if (!found && g_str_equal (recipe, "none"))
      found = &exact;
    if (found && profile->run && !put (store, profile->run, comparison, found, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Reading ------------------------------------------------------------------------------- */

/* Returns the text of a member; null if it is missing or not a text. Other programs may write the
 * store. */
static const char *
text_of (JsonObject *op, const char *name)
{
  JsonNode *node = json_object_get_member (op, name);
  gboolean text =
    node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  return text ? json_node_get_string (node) : NULL;
}

static double
error_of (JsonObject *op, const char *name)
{
  JsonNode *node = json_object_get_member (op, name);
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  if (g_strcmp0 (text_of (op, name), INFINITE) == 0)
    return INFINITY;
  return type == G_TYPE_DOUBLE || type == G_TYPE_INT64 ? json_node_get_double (node) : NAN;
}

static void
read_op (JsonObject *object, LigOpErrors *op)
{
  const char *path = text_of (object, "path"), *written = text_of (object, "written");
  const char *name = text_of (object, "op"), *title = text_of (object, "title");
  name = name ? name : "";
  path = path ? path : "";
  op->path = g_strdup (path);
  op->written = g_strdup (written ? written : path);
  op->op = g_intern_string (name);
  op->title = g_intern_string (title ? title : name);
  op->recipe = g_intern_string (text_of (object, "recipe"));
  op->unquantized = g_strdup (text_of (object, "unquantized"));
  op->output = error_of (object, "output");
  op->gradient = error_of (object, "gradient");
  op->parameters = error_of (object, "parameters");
}

/* Returns the errors of a row; null if its text is not a list of ops. */
static LigRecipeErrors *
read_row (const LigRecipeErrorRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->ops, NULL);
  JsonArray *list = root && JSON_NODE_HOLDS_ARRAY (root) ? json_node_get_array (root) : NULL;
  guint count = list ? json_array_get_length (list) : 0;
  for (guint i = 0; i < count; i++)
    if (!JSON_NODE_HOLDS_OBJECT (json_array_get_element (list, i)))
      return NULL;
  if (!list)
    return NULL;
  LigRecipeErrors *errors = g_new0 (LigRecipeErrors, 1);
  errors->recipe = g_strdup (row->recipe);
  errors->output = row->output;
  errors->gradient = row->gradient;
  errors->bytes = row->bytes;
  errors->n_ops = count;
  errors->ops = g_new0 (LigOpErrors, MAX (count, 1));
  for (guint i = 0; i < count; i++)
    read_op (json_array_get_object_element (list, i), &errors->ops[i]);
  return errors;
}

/* Returns whether both contain errors of the same ops. */
static gboolean
has_same_ops (const LigRecipeErrors *a, const LigRecipeErrors *b)
{
  gboolean same = a->n_ops == b->n_ops;
  for (guint i = 0; i < a->n_ops && same; i++)
    same = g_str_equal (a->ops[i].path, b->ops[i].path) && a->ops[i].op == b->ops[i].op;
  return same;
}

GPtrArray *
lig_profile_get_errors (LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && run, NULL);
  g_autoptr (GPtrArray) rows = lig_store_get_errors (store, run, error);
  g_autoptr (GPtrArray) all =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_recipe_errors_free);
  for (guint i = 0; rows && i < rows->len; i++) {
    const LigRecipeErrorRow *row = rows->pdata[i];
    g_autoptr (LigRecipeErrors) errors = g_str_equal (row->recipe, "none") ? NULL : read_row (row);
    if (errors && errors->n_ops > 0 && (all->len == 0 || has_same_ops (errors, all->pdata[0])))
      g_ptr_array_add (all, g_steal_pointer (&errors));
  }
  return rows ? g_steal_pointer (&all) : NULL;
}
