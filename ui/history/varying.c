/* SPDX-License-Identifier: MIT */
#include "ui/history/varying.h"

#include "ui/history/column-kinds.h"
#include "ui/history/format.h"
#include "ui/session/setting-name.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <string.h>

/* A label with more settings would not fit into a legend. */
#define MAX_NAMED 3

/* One fact of a run: a setting, or a parameter of an op. */
typedef struct {
  char *key, *title, *value;
} Fact;

static void
free_fact (gpointer data)
{
  Fact *fact = data;
  g_free (fact->key);
  g_free (fact->title);
  g_free (fact->value);
  g_free (fact);
}

/* --- The facts of a run -------------------------------------------------------------------- */

/* Takes ownership of the texts. */
static void
add (GPtrArray *facts, char *key, char *title, char *value)
{
  Fact *fact = g_new (Fact, 1);
  *fact = (Fact){key, title, value};
  g_ptr_array_add (facts, fact);
}

static char *
format_value (JsonNode *value)
{
  if (json_node_get_value_type (value) == G_TYPE_STRING)
    return lig_figure_excerpt (json_node_get_string (value));
  if (json_node_get_value_type (value) == G_TYPE_BOOLEAN)
    return g_strdup (json_node_get_boolean (value) ? _ ("yes") : _ ("no"));
  if (json_node_get_value_type (value) == G_TYPE_INT64)
    return lig_history_count (json_node_get_int (value));
  return lig_history_number (json_node_get_double (value));
}

static void
add_settings (GPtrArray *facts, const LigRunRow *row)
{
  static const char *const others[] = {"name", "policy", "dtype", "recipe", "checkpoint", NULL};
  g_autoptr (JsonNode) root = *row->settings ? lig_json_from_text (row->settings, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const LigSetting *setting;
  for (guint i = 0; object && (setting = lig_run_setting_nth (i)); i++) {
    JsonNode *value = json_object_get_member (object, setting->name);
    if (value && JSON_NODE_HOLDS_VALUE (value) && !g_strv_contains (others, setting->name))
      add (facts, g_strdup (setting->name), lig_setting_get_title (setting), format_value (value));
  }
}

/* Adds the ops' names and parameters by their paths: `3`, `3.out-features`; in a block `3.0.2`. */
static void
add_ops (GPtrArray *facts, GPtrArray *shape, JsonObject *parent, const char *path)
{
  JsonNode *ops = json_object_get_member (parent, "ops");
  JsonArray *array = ops && JSON_NODE_HOLDS_ARRAY (ops) ? json_node_get_array (ops) : NULL;
  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    JsonNode *node = json_array_get_element (array, i);
    if (!JSON_NODE_HOLDS_OBJECT (node))
      continue;
    JsonObject *op = json_node_get_object (node);
    g_autofree char *here = g_strdup_printf ("%s%u", path, i);
    g_autofree char *inner = g_strconcat (here, ".0.", NULL);
    g_autoptr (GList) members = json_object_get_members (op);
    g_ptr_array_add (shape, g_strdup_printf ("%s %s", here, lig_json_get_string (op, "op", "?")));
    for (GList *m = members; m; m = m->next) {
      JsonNode *value = json_object_get_member (op, m->data);
      char *key = JSON_NODE_HOLDS_VALUE (value) && strcmp (m->data, "op") != 0
                    ? g_strdup_printf ("%s.%s", here, (char *) m->data)
                    : NULL;
      if (key)
        add (facts, key, g_strdup (key), format_value (value));
    }
    add_ops (facts, shape, op, inner);
  }
}

/* Repetitions differ only in the seed, which older runs do not have among their settings. */
static void
add_seed (GPtrArray *facts, const LigRunRow *row)
{
  for (guint i = 0; i < facts->len; i++)
    if (strcmp (((Fact *) facts->pdata[i])->key, "seed") == 0)
      return;
  add (facts, g_strdup ("seed"), g_strdup (_ ("Seed")),
       g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed));
}

static GPtrArray *
list_facts (const LigRunRow *row, gboolean ops)
{
  GPtrArray *facts = g_ptr_array_new_with_free_func (free_fact);
  add (facts, g_strdup ("kind"), g_strdup (_ ("Kind")),
       g_strdup (lig_history_kind_word (row->kind)));
  add (facts, g_strdup ("device"), g_strdup (_ ("Device")), g_strdup (row->device));
  add (facts, g_strdup ("types"), g_strdup (_ ("Types")), g_strdup (row->dtype));
  add (facts, g_strdup ("policy"), g_strdup (_ ("Policy")), g_strdup (row->policy));
  add (facts, g_strdup ("recipe"), g_strdup (_ ("Recipe")), g_strdup (row->recipe));
  add_settings (facts, row);
  add_seed (facts, row);
  g_autoptr (JsonNode) root = ops ? lig_json_from_text (row->sequence, NULL) : NULL;
  g_autoptr (GPtrArray) shape = g_ptr_array_new_with_free_func (g_free);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    add_ops (facts, shape, json_node_get_object (root), "");
  return facts;
}

/* --- Differences --------------------------------------------------------------------------- */

static const Fact *
find (GPtrArray *facts, const char *key)
{
  for (guint i = 0; facts && i < facts->len; i++)
    if (strcmp (((const Fact *) facts->pdata[i])->key, key) == 0)
      return facts->pdata[i];
  return NULL;
}

/* Returns whether the fact differs between the runs that have it: a profile, for example, has no
 * learning rate. */
static gboolean
differs (GPtrArray *runs, const char *key)
{
  const Fact *first = NULL;
  for (guint i = 0; i < runs->len; i++) {
    const Fact *fact = find (runs->pdata[i], key);
    if (first && fact && strcmp (fact->value, first->value) != 0)
      return TRUE;
    first = first ? first : fact;
  }
  return FALSE;
}

/* Returns (element-type utf8) the keys of the facts that differ, in the order of the facts. */
static GPtrArray *
list_differences (GPtrArray *runs)
{
  GPtrArray *keys = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < runs->len; i++) {
    GPtrArray *facts = runs->pdata[i];
    for (guint k = 0; facts && k < facts->len; k++) {
      char *key = ((Fact *) facts->pdata[k])->key;
      if (g_hash_table_add (seen, key) && differs (runs, key))
        g_ptr_array_add (keys, key);
    }
  }
  return keys;
}

/* Returns the names of the ops with their places. */
static char *
get_shape (const LigRunRow *row)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->sequence, NULL);
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (free_fact);
  g_autoptr (GPtrArray) shape = g_ptr_array_new_with_free_func (g_free);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    add_ops (facts, shape, json_node_get_object (root), "");
  g_ptr_array_add (shape, NULL);
  return g_strjoinv (" ", (char **) shape->pdata);
}

/* Parameters are compared by their paths, which an additional op shifts. */
static gboolean
have_same_ops (GPtrArray *rows)
{
  g_autofree char *first = NULL;
  const char *text = NULL;
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    if (!row || g_strcmp0 (row->sequence, text) == 0)
      continue;
    g_autofree char *shape = get_shape (row);
    if (first && strcmp (first, shape) != 0)
      return FALSE;
    if (!first)
      first = g_steal_pointer (&shape);
    text = row->sequence;
  }
  return TRUE;
}

static GPtrArray *
list_all_facts (GPtrArray *rows)
{
  gboolean ops = have_same_ops (rows);
  GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (runs, rows->pdata[i] ? list_facts (rows->pdata[i], ops)
                                          : g_ptr_array_new_with_free_func (free_fact));
  return runs;
}

/* --- Labels -------------------------------------------------------------------------------- */

static gboolean
have_same_name (GPtrArray *rows)
{
  for (guint i = 1; i < rows->len; i++)
    if (strcmp (((LigRunRow *) rows->pdata[i])->name, ((LigRunRow *) rows->pdata[0])->name) != 0)
      return FALSE;
  return TRUE;
}

static void
append (GString *to, const char *text)
{
  g_string_append_printf (to, "%s%s", to->len > 0 ? " · " : "", text);
}

/* Appends the beginning of the uuid to labels that occur twice. */
static void
distinguish (GPtrArray *rows, GStrv labels)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < rows->len; i++) {
    guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, labels[i]));
    g_hash_table_insert (counts, g_strdup (labels[i]), GUINT_TO_POINTER (count + 1));
  }
  for (guint i = 0; i < rows->len; i++) {
    g_autofree char *label = labels[i];
    gboolean alike = GPOINTER_TO_UINT (g_hash_table_lookup (counts, label)) > 1;
    labels[i] = alike ? g_strdup_printf ("%s · %.8s", label, ((LigRunRow *) rows->pdata[i])->uuid)
                      : g_steal_pointer (&label);
  }
}

GStrv
lig_history_label_runs (GPtrArray *rows)
{
  g_autoptr (GPtrArray) runs = list_all_facts (rows);
  g_autoptr (GPtrArray) keys = list_differences (runs);
  gboolean named = keys->len == 0 || !have_same_name (rows);
  GStrv labels = g_new0 (char *, rows->len + 1);
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    g_autofree char *name = lig_figure_excerpt (*row->name ? row->name : _ ("Untitled"));
    GString *label = g_string_new (named ? name : NULL);
    for (guint k = 0; k < MIN (keys->len, MAX_NAMED); k++) {
      const Fact *fact = find (runs->pdata[i], keys->pdata[k]);
      g_autofree char *text = fact ? g_strdup_printf ("%s %s", fact->title, fact->value) : NULL;
      if (text)
        append (label, text);
    }
    if (label->len == 0)
      g_string_append (label, name);
    labels[i] = g_string_free (label, FALSE);
  }
  distinguish (rows, labels);
  return labels;
}

GStrv
lig_history_describe_varying (GPtrArray *rows)
{
  g_autoptr (GPtrArray) runs = list_all_facts (rows);
  g_autoptr (GPtrArray) keys = list_differences (runs);
  GStrv texts = g_new0 (char *, rows->len + 1);
  for (guint i = 0; i < rows->len; i++) {
    GString *text = g_string_new (NULL);
    for (guint k = 0; k < keys->len; k++) {
      const Fact *fact = find (runs->pdata[i], keys->pdata[k]);
      g_autofree char *one = fact ? g_strdup_printf ("%s %s", fact->key, fact->value) : NULL;
      if (one && strcmp (fact->key, "seed") != 0)
        append (text, one);
    }
    texts[i] = g_string_free (text, FALSE);
  }
  return texts;
}

/* --- Columns ------------------------------------------------------------------------------- */

/* A profile has other settings than a training run, and writes the same types differently. */
static const char *
find_kind (GPtrArray *rows)
{
  const char *kind = "";
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    if (row && (!*kind || strcmp (row->kind, "train") == 0))
      kind = row->kind;
  }
  return kind;
}

GStrv
lig_history_find_varying (GPtrArray *rows)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  const LigHistoryColumn *column;
  const char *kind = find_kind (rows), *seed = NULL;
  for (guint i = 0; i < rows->len; i++)
    if (rows->pdata[i] && strcmp (((LigRunRow *) rows->pdata[i])->kind, kind) == 0)
      g_ptr_array_add (runs, list_facts (rows->pdata[i], FALSE));
  for (guint i = 0; (column = lig_history_column_nth (i)); i++) {
    static const char *const facts[] = {"device", "types", "recipe", NULL};
    if ((column->setting || g_strv_contains (facts, column->name)) &&
        differs (runs, column->setting ? column->setting->name : column->name)) {
      if (strcmp (column->name, "setting-seed") == 0)
        seed = column->name;
      else
        g_strv_builder_add (names, column->name);
    }
  }
  GStrv list = g_strv_builder_end (names);
  if (*list || !seed)
    return list;
  g_strfreev (list);
  return g_strdupv ((char *[]){(char *) seed, NULL});
}
