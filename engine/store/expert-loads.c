/* SPDX-License-Identifier: MIT */
/* The loads of experts of runs. */
#include "engine/store/private.h"
#include <ligature/json.h>
#include <ligature/store-loads.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>

/* --- Series -------------------------------------------------------------------------------- */

static LigLoadSeries *
new_series (char *path, guint experts)
{
  LigLoadSeries *self = g_new (LigLoadSeries, 1);
  *self = (LigLoadSeries){path,
                          experts,
                          g_array_new (FALSE, FALSE, sizeof (gint64)),
                          g_array_new (FALSE, FALSE, sizeof (double)),
                          g_array_new (FALSE, FALSE, sizeof (double)),
                          g_array_new (FALSE, FALSE, sizeof (double)),
                          g_array_new (FALSE, FALSE, sizeof (double))};
  return self;
}

/* --- Writing ------------------------------------------------------------------------------- */

static char *
write_numbers (const LigLoadEntry *entry)
{
  GString *text = g_string_new ("[");
  for (guint i = 0; i < entry->experts; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", (gint64) entry->load[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

gboolean
lig_store_add_loads (LigStore *self,
                     const char *run,
                     gint64 step,
                     const LigLoadEntry *entries,
                     guint count,
                     GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO expert_load (run, number, step, path, loads, balance, z, dropped)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && (entries || count == 0), FALSE);
  gint64 number;
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = lig_store_find_number (self, run, &number, error);
    for (guint i = 0; done && i < count; i++) {
      g_autofree char *loads = write_numbers (&entries[i]);
      done =
        lig_sql_run (self->db, error, sql, "iiittddi", number, (gint64) i, step, entries[i].path,
                     loads, entries[i].balance, entries[i].z, (gint64) entries[i].dropped);
    }
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  return done;
}

/* --- Reading ------------------------------------------------------------------------------- */

enum { NUMBER, STEP, PATH, LOADS, BALANCE, Z, DROPPED };

/* Reads an array of numbers, one for each expert of the series. */
static gboolean
read_numbers (const char *text, LigLoadSeries *series, GError **error)
{
  g_autoptr (JsonNode) root = lig_json_from_text (text, NULL);
  JsonArray *array = root && JSON_NODE_HOLDS_ARRAY (root) ? json_node_get_array (root) : NULL;
  guint count = array ? json_array_get_length (array) : 0;
  if (count == 0 || (series->steps->len > 0 && count != series->experts)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("the number of loads of %s is %u, expected %u"), series->path, count,
                 MAX (series->experts, 1));
    return FALSE;
  }
  series->experts = count;
  for (guint i = 0; i < count; i++) {
    JsonNode *node = json_array_get_element (array, i);
    double load = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
    g_array_append_val (series->loads, load);
  }
  return TRUE;
}

static gboolean
read_row (sqlite3_stmt *from, GPtrArray *all, gint64 *number, GError **error)
{
  gint64 now = sqlite3_column_int64 (from, NUMBER), step = sqlite3_column_int64 (from, STEP);
  double balance = lig_sql_real (from, BALANCE), z = lig_sql_real (from, Z);
  double dropped = (double) sqlite3_column_int64 (from, DROPPED);
  g_autofree char *loads = lig_sql_required (from, LOADS);
  if (all->len == 0 || now != *number)
    g_ptr_array_add (all, new_series (lig_sql_required (from, PATH), 0));
  LigLoadSeries *series = all->pdata[all->len - 1];
  if (!read_numbers (loads, series, error))
    return FALSE;
  g_array_append_val (series->steps, step);
  g_array_append_val (series->balance, balance);
  g_array_append_val (series->z, z);
  g_array_append_val (series->dropped, dropped);
  *number = now;
  return TRUE;
}

GPtrArray *
lig_store_get_loads (LigStore *self, const char *run, GError **error)
{
  static const char sql[] = "SELECT number, step, path, loads, balance, z, dropped FROM expert_load"
                            " WHERE run = (SELECT id FROM run WHERE uuid = ?1)"
                            " ORDER BY number, step";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GPtrArray) all =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_load_series_free);
  g_autoptr (GError) failure = NULL;
  gint64 number = -1;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure) &&
         read_row (statement, all, &number, &failure))
    ;
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&all);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
