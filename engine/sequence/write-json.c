/* SPDX-License-Identifier: MIT */
/* Writes a sequence as the canonical JSON of a .lig file: keys in a fixed order, one line per op,
 * no values that equal their defaults. Reading the text and writing it again changes nothing. */
#include "engine/base/json-private.h"
#include "engine/sequence/literal.h"
#include "engine/sequence/recipes.h"
#include <ligature/recipe.h>

#include <string.h>

/* Returns the object in a text of unknown keys; null if the text is null. */
static JsonObject *
parse_unknown (const char *text)
{
  g_autoptr (JsonNode) node = text ? lig_json_from_text (text, NULL) : NULL;
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return NULL;
  return json_object_ref (json_node_get_object (node));
}

/* Returns the object under `key`, or null. */
static JsonObject *
inner (JsonObject *object, const char *key)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;
  return node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

/* Appends the members of `unknown` but for those in `except`, sorted, each after `separator`. */
static void
append_unknown (GString *text,
                JsonObject *unknown,
                const char *separator,
                const char *const *except)
{
  if (!unknown)
    return;
  g_autoptr (GList) keys = g_list_sort (json_object_get_members (unknown), compare);
  for (GList *at = keys; at; at = at->next) {
    if (g_strv_contains (except, at->data))
      continue;
    g_string_append (text, separator);
    lig_json_append_string (text, at->data);
    g_string_append (text, ": ");
    lig_json_append (text, json_object_get_member (unknown, at->data));
  }
}

static void
append_params (GString *text, LigOp *op)
{
  for (const LigParam *param = lig_op_get_info (op)->params; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!lig_literal_get (op, param, &value))
      continue;
    g_string_append_printf (text, ", \"%s\": ", param->name);
    lig_literal_append (text, &value);
  }
}

static void append_ops (GString *text, LigSequence *sequence, int indent);

static void
append_op (GString *text, LigOp *op, int indent)
{
  static const char *const elsewhere[] = {"$forbid", "$force", NULL};
  g_autoptr (JsonObject) unknown = parse_unknown (lig_op_get_unknown (op));
  g_string_append (text, "{\"op\": ");
  lig_json_append_string (text, lig_op_get_name (op));
  append_params (text, op);
  if (!lig_op_get_trained (op))
    g_string_append (text, ", \"trained\": false");
  if (lig_op_get_body (op)) {
    g_string_append (text, ", \"ops\": ");
    append_ops (text, lig_op_get_body (op), indent);
  }
  append_unknown (text, unknown, ", ", elsewhere);
  g_string_append_c (text, '}');
}

static void
append_ops (GString *text, LigSequence *sequence, int indent)
{
  guint length = lig_sequence_get_length (sequence);
  g_string_append_c (text, '[');
  for (guint i = 0; i < length; i++) {
    g_string_append_printf (text, "%s\n%*s", i > 0 ? "," : "", indent + 2, "");
    append_op (text, lig_sequence_get (sequence, (int) i, NULL), indent + 2);
  }
  if (length > 0)
    g_string_append_printf (text, "\n%*s", indent, "");
  g_string_append_c (text, ']');
}

static void
append_input (GString *text, LigSequence *self, JsonObject *unknown)
{
  static const char *const none[] = {NULL};
  LigShape shape;
  LigDtype dtype;
  g_auto (GValue) value = G_VALUE_INIT;
  if (!lig_sequence_has_input (self))
    return;
  lig_sequence_get_input (self, &shape, &dtype);
  g_value_init (&value, LIG_TYPE_SHAPE);
  g_value_set_boxed (&value, &shape);
  g_string_append (text, ",\n  \"input\": {\"shape\": ");
  lig_literal_append (text, &value);
  g_string_append_printf (text, ", \"dtype\": \"%s\"", lig_dtype_name (dtype));
  append_unknown (text, inner (unknown, "input"), ", ", none);
  g_string_append_c (text, '}');
}

static void
append_types (GString *text, LigSequence *self, JsonObject *unknown)
{
  static const char *const none[] = {NULL};
  int compute = lig_sequence_get_compute (self), parameters = lig_sequence_get_parameters (self);
  JsonObject *more = inner (unknown, "types");
  if (compute < 0 && parameters < 0 && !more)
    return;
  g_autoptr (GString) members = g_string_new (NULL);
  if (compute >= 0)
    g_string_append_printf (members, ", \"compute\": \"%s\"", lig_dtype_name ((LigDtype) compute));
  if (parameters >= 0)
    g_string_append_printf (members, ", \"parameters\": \"%s\"", lig_parameters_name (parameters));
  append_unknown (members, more, ", ", none);
  g_string_append_printf (text, ",\n  \"types\": {%s}", members->str + strlen (", "));
}

static void
append_recipe (GString *text, LigSequence *self)
{
  LigRecipe recipe;
  if (!lig_sequence_get_recipe (self) ||
      !lig_recipe_parse (&recipe, lig_sequence_get_recipe (self), NULL))
    return;
  g_string_append_printf (text, ",\n  \"recipe\": {\"name\": \"%s\"", recipe.info->name);
  for (const LigParam *param = recipe.info->params; param->name; param++) {
    if (lig_recipe_has_default (&recipe, param))
      continue;
    g_autofree char *value = lig_recipe_get (&recipe, param);
    const char *quote = param->kind == LIG_PARAM_CHOICE ? "\"" : "";
    g_string_append_printf (text, ", \"%s\": %s%s%s", param->name, quote, value, quote);
  }
  g_string_append_c (text, '}');
}

/* The user's choices about fusions, gathered from the ops in the order of their paths. */
typedef struct {
  GString *fences, *forbid, *force; /* members of the arrays, each followed by a comma */
} Constraints;

static void
append_constraint (GString *list, const char *fusion, const char *path, JsonObject *unknown)
{
  static const char *const none[] = {NULL};
  g_string_append (list, "\n    {\"fusion\": ");
  lig_json_append_string (list, fusion);
  if (path)
    g_string_append_printf (list, ", \"at\": \"%s\"", path);
  append_unknown (list, inner (unknown, fusion), ", ", none);
  g_string_append (list, "},");
}

static void
gather (Constraints *self, LigSequence *sequence, GString *path)
{
  gsize outside = path->len;
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    const char *const *forbidden = lig_op_get_forbidden (op);
    const char *const *forced = lig_op_get_forced (op);
    g_autoptr (JsonObject) unknown =
      *forbidden || *forced ? parse_unknown (lig_op_get_unknown (op)) : NULL;
    g_string_append_printf (path, "%u", i);
    if (lig_op_get_fence (op))
      g_string_append_printf (self->fences, "\"%s\", ", path->str);
    for (; *forbidden; forbidden++)
      append_constraint (self->forbid, *forbidden, path->str, inner (unknown, "$forbid"));
    for (; *forced; forced++)
      append_constraint (self->force, *forced, path->str, inner (unknown, "$force"));
    if (lig_op_get_body (op)) {
      g_string_append (path, ".0.");
      gather (self, lig_op_get_body (op), path);
    }
    g_string_truncate (path, outside);
  }
}

/* Appends a gathered list without its last separator. */
static void
append_list (GString *text, const char *key, GString *list, gsize separator, const char *close)
{
  if (list->len == 0)
    return;
  g_string_truncate (list, list->len - separator);
  g_string_append_printf (text, ",\n  \"%s\": [%s%s]", key, list->str, close);
}

static void
append_constraints (GString *text, LigSequence *self, JsonObject *unknown)
{
  g_autoptr (GString) fences = g_string_new (NULL);
  g_autoptr (GString) forbid = g_string_new (NULL);
  g_autoptr (GString) force = g_string_new (NULL);
  g_autoptr (GString) path = g_string_new (NULL);
  Constraints constraints = {fences, forbid, force};
  for (const char *const *at = lig_sequence_get_forbidden (self); *at; at++)
    append_constraint (forbid, *at, NULL, inner (unknown, "$forbid"));
  gather (&constraints, self, path);
  append_list (text, "fences", fences, strlen (", "), "");
  append_list (text, "forbid", forbid, strlen (","), "\n  ");
  append_list (text, "force", force, strlen (","), "\n  ");
}

char *
lig_sequence_to_json (LigSequence *self)
{
  static const char *const elsewhere[] = {"input", "types", "$forbid", NULL};
  g_return_val_if_fail (LIG_IS_SEQUENCE (self), NULL);
  g_autoptr (GString) text = g_string_new ("{\n  \"ligature\": 1");
  g_autoptr (JsonObject) unknown = parse_unknown (lig_sequence_get_unknown (self));
  g_autoptr (JsonObject) train = parse_unknown (lig_sequence_get_train (self));
  if (lig_sequence_get_name (self)) {
    g_string_append (text, ",\n  \"name\": ");
    lig_json_append_string (text, lig_sequence_get_name (self));
  }
  append_input (text, self, unknown);
  append_types (text, self, unknown);
  append_recipe (text, self);
  g_string_append (text, ",\n  \"ops\": ");
  append_ops (text, self, 2);
  append_constraints (text, self, unknown);
  if (train) {
    g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), train);
    g_string_append (text, ",\n  \"train\": ");
    lig_json_append (text, node);
  }
  append_unknown (text, unknown, ",\n  ", elsewhere);
  g_string_append (text, "\n}\n");
  return g_string_free (g_steal_pointer (&text), FALSE);
}
