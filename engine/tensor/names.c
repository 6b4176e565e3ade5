/* SPDX-License-Identifier: MIT */
/* Reads data/names/NAME.json and finds the table that matches a file's names. */
#include "engine/tensor/config.h"

#include "engine/base/file.h"
#include "engine/base/json-private.h"
#include "engine/base/suggest.h"
#include <ligature/folders.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The tables of data/names, compiled in so that they are available without the data folder. */
static const struct {
  const char *name, *text;
} shipped[] = {
#include "engine/names.h"
};

static void
free_rule (gpointer data)
{
  LigNameRule *rule = data;
  g_free (rule->role);
  g_strfreev (rule->names);
  g_free (rule->first);
  g_free (rule->tied);
  g_free (rule->unless);
  g_free (rule->scales);
  if (rule->alternative)
    free_rule (rule->alternative);
  g_free (rule);
}

void
lig_names_free (LigNames *self)
{
  if (!self)
    return;
  g_free (self->name);
  g_free (self->title);
  g_free (self->known_by);
  g_strfreev (self->prefixes);
  g_strfreev (self->ignored);
  g_strfreev (self->harmless);
  g_ptr_array_unref (self->rules);
  g_clear_pointer (&self->config, json_array_unref);
  g_clear_pointer (&self->requires, json_array_unref);
  g_free (self);
}

const char *
lig_names_nth (guint n)
{
  return n < G_N_ELEMENTS (shipped) ? shipped[n].name : NULL;
}

/* --- Reading ------------------------------------------------------------------------------- */

static gboolean
reject (const char *at, const char *expected, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: expected %s"), at, expected);
  return FALSE;
}

/* Reads a string; a missing one is an error if `needed`. */
static gboolean
read_text (JsonObject *object, const char *key, gboolean needed, char **text, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);
  if (!node && !needed)
    return TRUE;
  if (!node || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return reject (key, _ ("a string"), error);
  *text = g_strdup (json_node_get_string (node));
  return TRUE;
}

static gboolean
read_truth (JsonObject *object, const char *key, gboolean *truth, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);
  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return reject (key, _ ("true or false"), error);
  *truth = json_node_get_boolean (node);
  return TRUE;
}

/* Reads a list of at least one string. */
static gboolean
read_texts (JsonObject *object, const char *key, GStrv *texts, GError **error)
{
  JsonNode *node = json_object_get_member (object, key);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint count = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < count; i++) {
    JsonNode *one = json_array_get_element (array, i);
    if (!JSON_NODE_HOLDS_VALUE (one) || json_node_get_value_type (one) != G_TYPE_STRING)
      return reject (key, _ ("a list of strings"), error);
    g_strv_builder_add (builder, json_node_get_string (one));
  }
  if (count == 0)
    return reject (key, _ ("a list of strings"), error);
  *texts = g_strv_builder_end (builder);
  return TRUE;
}

/* Returns the rule, for files that lack the names of other rules of the role, of one tensor that
 * has the layout of the parameter. */
static LigNameRule *
add_alternative (LigNameRule *rule, const char *name)
{
  LigNameRule *alternative = g_new0 (LigNameRule, 1);
  const char *const names[] = {name, NULL};
  while (rule->alternative)
    rule = rule->alternative;
  rule->alternative = alternative;
  alternative->role = g_strdup (rule->role);
  alternative->names = g_strdupv ((GStrv) names);
  alternative->prefixed = rule->prefixed;
  alternative->merged = TRUE;
  return alternative;
}

/* Does the same for a tensor in MXFP4 and that of its scales. */
static void
add_quantized (LigNameRule *rule, const char *name)
{
  g_autofree char *blocks = g_strconcat (name, "_blocks", NULL);
  LigNameRule *quantized = add_alternative (rule, blocks);
  quantized->scales = g_strconcat (name, "_scales", NULL);
  quantized->interleaved = rule->interleaved;
}

/* Reads how the tensors of a role differ from the parameter. */
static gboolean
read_layout (LigNameRule *rule, JsonObject *object, GError **error)
{
  return read_text (object, "first", FALSE, &rule->first, error) &&
         read_text (object, "tied", FALSE, &rule->tied, error) &&
         read_text (object, "unless", FALSE, &rule->unless, error) &&
         read_truth (object, "merged", &rule->merged, error) &&
         read_truth (object, "interleaved", &rule->interleaved, error) &&
         read_truth (object, "transposed", &rule->transposed, error) &&
         read_truth (object, "padded", &rule->padded, error) &&
         read_truth (object, "prefixed", &rule->prefixed, error) &&
         read_truth (object, "needed", &rule->needed, error);
}

static gboolean
read_rule (LigNames *self, const char *role, JsonNode *node, GError **error)
{
  g_autofree char *alternative = NULL, *quantized = NULL;
  LigNameRule *rule = g_new0 (LigNameRule, 1);
  rule->role = g_strdup (role);
  rule->prefixed = TRUE;
  g_ptr_array_add (self->rules, rule);
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return reject (role, _ ("an object"), error);
  JsonObject *object = json_node_get_object (node);
  if (!read_texts (object, "names", &rule->names, error) || !read_layout (rule, object, error) ||
      !read_text (object, "alternative", FALSE, &alternative, error) ||
      !read_text (object, "mxfp4", FALSE, &quantized, error)) {
    g_prefix_error (error, "%s: ", role);
    return FALSE;
  }
  guint by_expert = 0;
  for (guint n = 0; rule->names[n]; n++)
    by_expert += strstr (rule->names[n], "{expert}") != NULL;
  rule->by_expert = by_expert > 0;
  if (alternative)
    add_alternative (rule, alternative);
  if (quantized)
    add_quantized (rule, quantized);
  return by_expert == 0 || by_expert == g_strv_length (rule->names) ||
         reject (role, _ ("'{expert}' in all names or in none"), error);
}

/* Does the same for an optional list. */
static gboolean
read_optional (JsonObject *object, const char *key, GStrv *texts, GError **error)
{
  if (json_object_has_member (object, key))
    return read_texts (object, key, texts, error);
  *texts = g_new0 (char *, 1);
  return TRUE;
}

static gboolean
read_rules (LigNames *self, JsonObject *object, GError **error)
{
  JsonNode *node = json_object_get_member (object, "tensors");
  JsonObjectIter iter;
  const char *role;
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return reject ("tensors", _ ("an object"), error);
  json_object_iter_init_ordered (&iter, json_node_get_object (node));
  while (json_object_iter_next_ordered (&iter, &role, &node))
    if (!read_rule (self, role, node, error))
      return FALSE;
  for (guint i = 0; i < self->rules->len; i++) {
    const LigNameRule *rule = g_ptr_array_index (self->rules, i);
    const char *others[] = {rule->first, rule->tied, rule->unless};
    for (guint j = 0; j < G_N_ELEMENTS (others); j++)
      if (others[j] && !lig_names_rule (self, others[j]))
        return reject (rule->role, _ ("'first', 'tied' and 'unless' to be roles of the table"),
                       error);
  }
  return TRUE;
}

LigNames *
lig_names_parse (const char *name, const char *text, GError **error)
{
  g_autoptr (LigNames) self = g_new0 (LigNames, 1);
  self->name = g_strdup (name);
  self->rules = g_ptr_array_new_with_free_func (free_rule);
  g_autoptr (JsonNode) root = lig_json_read (text, strlen (text), name, error);
  if (!root)
    return NULL;
  if (!JSON_NODE_HOLDS_OBJECT (root)) {
    reject (name, _ ("an object"), error);
    return NULL;
  }
  JsonObject *object = json_node_get_object (root);
  if (read_text (object, "title", TRUE, &self->title, error) &&
      read_text (object, "known-by", TRUE, &self->known_by, error) &&
      read_texts (object, "prefixes", &self->prefixes, error) &&
      read_texts (object, "ignored", &self->ignored, error) &&
      read_optional (object, "harmless", &self->harmless, error) &&
      read_rules (self, object, error) && lig_config_parse (self, object, error))
    return g_steal_pointer (&self);
  g_prefix_error (error, "%s: ", name);
  return NULL;
}

/* --- Finding ------------------------------------------------------------------------------- */

LigNames *
lig_names_find (const char *name, GError **error)
{
  g_autofree char *file = g_strconcat ("names" G_DIR_SEPARATOR_S, name, ".json", NULL);
  g_autofree char *path = strchr (name, '/') ? NULL : lig_data_find (file);
  if (path) {
    g_autoptr (GBytes) bytes = lig_read_file (path, error);
    gsize length = bytes ? g_bytes_get_size (bytes) : 0;
    g_autofree char *text = bytes ? g_strndup (g_bytes_get_data (bytes, NULL), length) : NULL;
    return text ? lig_names_parse (name, text, error) : NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++)
    if (g_str_equal (shipped[i].name, name))
      return lig_names_parse (name, shipped[i].text, error);
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++)
    g_string_append_printf (all, "%s%s",
                            i == 0                            ? ""
                            : i + 1 == G_N_ELEMENTS (shipped) ? _ (" or ")
                                                              : ", ",
                            shipped[i].name);
  g_autofree char *like = lig_suggest_nth (name, lig_names_nth);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("names '%s' are unknown; expected %s%s"), name,
               all->str, like);
  return NULL;
}

const LigNameRule *
lig_names_rule (const LigNames *self, const char *role)
{
  for (guint i = 0; i < self->rules->len; i++) {
    const LigNameRule *rule = g_ptr_array_index (self->rules, i);
    if (g_str_equal (rule->role, role))
      return rule;
  }
  return NULL;
}

gboolean
lig_names_is_parameter (const char *name)
{
  static const char *const others[] = {LIG_OPTIMIZER_PREFIX, LIG_QUANTIZER_PREFIX};
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_has_prefix (name, others[i]))
      return FALSE;
  return TRUE;
}

/* Returns whether the file has the first tensor of a rule in some layer. */
static gboolean
occurs (LigTensorFile *file, const LigNameRule *rule, const char *prefix)
{
  gboolean found = FALSE;
  g_autoptr (GString) glob = g_string_new (prefix);
  g_string_append (glob, rule->names[0]);
  g_string_replace (glob, "{layer}", "*", 0);
  g_string_replace (glob, "{expert}", "*", 0);
  g_autoptr (GPatternSpec) pattern = g_pattern_spec_new (glob->str);
  for (const char *const *name = lig_tensor_file_get_names (file); *name && !found; name++)
    found = g_pattern_spec_match_string (pattern, *name);
  return found;
}

/* Returns how many tensors of a block have a name that the file contains. */
static guint
count_block_names (LigTensorFile *file, const LigNames *names, const char *prefix)
{
  guint count = 0;
  for (guint i = 0; i < names->rules->len; i++) {
    const LigNameRule *rule = g_ptr_array_index (names->rules, i);
    gboolean inside = strstr (rule->names[0], "{layer}") != NULL;
    while (inside && rule && !occurs (file, rule, prefix))
      rule = rule->alternative;
    count += inside && rule;
  }
  return count;
}

/* Tries a table with each of its prefixes: a matching file has two names of a block. The table's
 * characteristic name counts twice: models with experts have all names of Llama but those of the
 * MLP. Takes the table if it matches better than `best`. */
static void
try_names (LigTensorFile *file, LigNames **one, guint *best, LigNames **names, const char **prefix)
{
  const char *found = NULL;
  for (char **at = (*one)->prefixes; *at; at++) {
    g_autofree char *known = g_strconcat (*at, (*one)->known_by, NULL);
    guint count = count_block_names (file, *one, *at) + lig_tensor_file_has (file, known);
    if (count > *best) {
      *best = count;
      found = *at;
    }
  }
  if (!found)
    return;
  lig_names_free (*names);
  *names = g_steal_pointer (one);
  *prefix = found;
}

gboolean
lig_names_detect (LigTensorFile *file, LigNames **names, const char **prefix, GError **error)
{
  guint best = 1;
  *names = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++) {
    g_autoptr (LigNames) one = lig_names_find (shipped[i].name, error);
    if (!one) {
      g_clear_pointer (names, lig_names_free);
      return FALSE;
    }
    try_names (file, &one, &best, names, prefix);
  }
  return TRUE;
}
