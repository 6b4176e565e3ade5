/* SPDX-License-Identifier: MIT */
/* Names groups of runs. */
#include "ui/history/group-names.h"

#include "ui/history/format.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <string.h>

/* Returns (element-type utf8 utf8) the facts that describe a run, without its seed and name. */
static GHashTable *
describe_run (const LigRunRow *row)
{
  GHashTable *facts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (JsonNode) root = *row->settings ? lig_json_from_text (row->settings, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  g_autoptr (GList) members = object ? json_object_get_members (object) : NULL;
  g_hash_table_insert (facts, g_strdup ("kind"), g_strdup (lig_history_kind_word (row->kind)));
  g_hash_table_insert (facts, g_strdup ("device"), g_strdup (row->device));
  g_hash_table_insert (facts, g_strdup ("types"), g_strdup (row->dtype));
  g_hash_table_insert (facts, g_strdup ("policy"), g_strdup (row->policy));
  g_hash_table_insert (facts, g_strdup ("recipe"), g_strdup (row->recipe));
  for (GList *m = members; m; m = m->next) {
    JsonNode *value = json_object_get_member (object, m->data);
    if (strcmp (m->data, "seed") == 0 || strcmp (m->data, "name") == 0 ||
        strcmp (m->data, "checkpoint") == 0 || !JSON_NODE_HOLDS_VALUE (value))
      continue;
    char *text = json_node_get_value_type (value) == G_TYPE_STRING
                   ? lig_figure_excerpt (json_node_get_string (value))
                 : json_node_get_value_type (value) == G_TYPE_INT64
                   ? lig_history_count (json_node_get_int (value))
                   : lig_history_number (json_node_get_double (value));
    g_hash_table_insert (facts, g_strdup (m->data), text);
  }
  return facts;
}

/* Returns whether the fact differs among the runs that have it: a profile, for example, has no
 * learning rate. */
static gboolean
differs (GPtrArray *runs, const char *name)
{
  const char *first = NULL;
  for (guint i = 0; i < runs->len; i++) {
    const char *value = g_hash_table_lookup (runs->pdata[i], name);
    if (first && value && strcmp (value, first) != 0)
      return TRUE;
    first = first ? first : value;
  }
  return FALSE;
}

static GList *
list_differences (GPtrArray *runs)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < runs->len; i++) {
    g_autoptr (GList) keys = g_hash_table_get_keys (runs->pdata[i]);
    for (GList *k = keys; k; k = k->next)
      g_hash_table_add (names, k->data);
  }
  GList *all = g_list_sort (g_hash_table_get_keys (names), (GCompareFunc) strcmp);
  for (GList *k = all, *next; k; k = next) {
    next = k->next;
    if (!differs (runs, k->data))
      all = g_list_delete_link (all, k);
  }
  return all;
}

static GStrv
name_repetitions (LigStore *store, GPtrArray *groups, GError **error)
{
  g_autofree gint64 *keys = g_new (gint64, MAX (groups->len, 1));
  for (guint i = 0; i < groups->len; i++)
    keys[i] = ((LigRunGroup *) groups->pdata[i])->sample;
  g_autoptr (GPtrArray) rows = lig_store_read_runs (store, keys, groups->len, error);
  if (!rows)
    return NULL;
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  for (guint i = 0; i < rows->len; i++)
    g_ptr_array_add (runs, rows->pdata[i] ? describe_run (rows->pdata[i])
                                          : g_hash_table_new (g_str_hash, g_str_equal));
  g_autoptr (GList) differences = list_differences (runs);
  GStrv names = g_new0 (char *, rows->len + 1);
  for (guint i = 0; i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    GString *name = g_string_new (row && *row->name ? row->name : _ ("Untitled"));
    for (GList *d = differences; d; d = d->next) {
      const char *value = g_hash_table_lookup (runs->pdata[i], d->data);
      if (value)
        g_string_append_printf (name, " · %s %s", (char *) d->data, value);
    }
    names[i] = g_string_free (name, FALSE);
  }
  return names;
}

/* Returns a number without superfluous digits: SQLite writes 3e-05 as 3.0e-05. */
static char *
format_value (const char *value)
{
  char *end;
  double number = g_ascii_strtod (value, &end);
  if (end == value || *end || !strpbrk (value, ".eE"))
    return g_strdup (value);
  return lig_history_number (number);
}

/* Formats the name and the start of the uuid, because a sweep that was started twice is two
 * sweeps. */
static char *
name_sweep (GPtrArray *sweeps, const char *uuid)
{
  for (guint i = 0; i < sweeps->len; i++) {
    const LigSweepRow *row = sweeps->pdata[i];
    if (strcmp (row->uuid, uuid) == 0 && *row->name)
      return g_strdup_printf ("%s · %.8s", row->name, uuid);
  }
  return g_strndup (uuid, 8);
}

static GStrv
name_sweeps (LigStore *store, GPtrArray *groups, GError **error)
{
  g_autoptr (GPtrArray) sweeps = lig_store_list_sweeps (store, error);
  if (!sweeps)
    return NULL;
  GStrv names = g_new0 (char *, groups->len + 1);
  for (guint i = 0; i < groups->len; i++) {
    const char *uuid = ((LigRunGroup *) groups->pdata[i])->value;
    names[i] = uuid ? name_sweep (sweeps, uuid) : g_strdup (_ ("no sweep"));
  }
  return names;
}

GStrv
lig_history_name_groups (LigStore *store, GPtrArray *groups, const char *by, GError **error)
{
  if (strcmp (by, LIG_RUN_ALL_BUT_SEED) == 0)
    return name_repetitions (store, groups, error);
  if (strcmp (by, "sweep") == 0)
    return name_sweeps (store, groups, error);
  GStrv names = g_new0 (char *, groups->len + 1);
  for (guint i = 0; i < groups->len; i++) {
    const char *value = ((LigRunGroup *) groups->pdata[i])->value;
    g_autofree char *text = value ? format_value (value) : NULL;
    names[i] = !value                     ? g_strdup (_ ("not set"))
               : strcmp (by, "kind") == 0 ? g_strdup (lig_history_kind_word (value))
               : *value                   ? lig_figure_excerpt (text)
                                          : g_strdup (_ ("empty"));
  }
  return names;
}
