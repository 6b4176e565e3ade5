/* SPDX-License-Identifier: MIT */
/* Lists of runs as keys: a list of any length is sorted and filtered from one index, and only the
 * visible rows are read. */
#include "engine/store/private.h"
#include "engine/store/process.h"
#include "engine/store/setting-values.h"
#include <ligature/store-trash.h>

#include <string.h>

/* The sort expression of each LigRunOrder; from the steps on it may be NULL. */
static const char *const orders[LIG_RUN_N_ORDERS] = {
  [LIG_RUN_BY_START] = "r.started",
  [LIG_RUN_BY_NAME] = "(SELECT name FROM experiment WHERE id = r.experiment) COLLATE NOCASE",
  [LIG_RUN_BY_STATUS] = "r.status",
  [LIG_RUN_BY_DEVICE] = "r.device",
  [LIG_RUN_BY_DTYPE] = "r.dtype",
  [LIG_RUN_BY_POLICY] = "r.policy",
  [LIG_RUN_BY_KIND] = "r.kind",
  [LIG_RUN_BY_DURATION] = "coalesce (r.ended, ?9) - r.started",
  [LIG_RUN_BY_STEPS] = "r.last_step",
  [LIG_RUN_BY_LOSS] = "r.last_loss",
  [LIG_RUN_BY_EVAL_LOSS] = "r.eval_loss",
  [LIG_RUN_BY_ACCURACY] = "r.eval_accuracy",
  [LIG_RUN_BY_STEP_TIME] = "r.step_ms",
  [LIG_RUN_BY_STAR] = "r.starred",
  [LIG_RUN_BY_NOTES] = "nullif (r.notes, '') COLLATE NOCASE",
};

/* --- Keys ---------------------------------------------------------------------------------- */

/* Returns a statement with only the conditions that the filter sets, so that the others take no
 * time. */
static GString *
make_statement (const char *columns, const LigRunFilter *f)
{
  GString *sql = g_string_new (columns);
  g_string_append_printf (
    sql, " FROM run r WHERE r.id %s (SELECT id FROM run WHERE deleted IS NOT NULL)",
    f->deleted ? "IN" : "NOT IN");
  if (f->text && *f->text)
    g_string_append (sql,
                     " AND (r.experiment IN (SELECT id FROM experiment"
                     " WHERE instr (lower (name), lower (?1))) OR instr (r.uuid, lower (?1))"
                     " OR instr (lower (r.device), lower (?1)) OR (r.notes != ''"
                     " AND instr (lower (r.notes), lower (?1))) OR r.id IN (SELECT run FROM tag"
                     " WHERE instr (lower (tag), lower (?1))))");
  if (f->status)
    g_string_append (sql, " AND (r.status = ?2 OR (?2 = 'interrupted' AND r.status = 'running'))");
  if (f->device)
    g_string_append (sql, " AND r.device = ?3");
  if (f->tag)
    g_string_append (sql, " AND r.id IN (SELECT run FROM tag WHERE tag = ?4)");
  if (f->starred)
    g_string_append (sql, " AND r.starred");
  if (f->unstarred)
    g_string_append (sql, " AND NOT r.starred");
  if (f->name)
    g_string_append (sql, " AND r.experiment IN (SELECT id FROM experiment"
                          " WHERE name = ?14 OR name GLOB ?14)");
  if (f->kind)
    g_string_append (sql, " AND r.kind = ?6");
  if (f->started_from)
    g_string_append (sql, " AND r.started >= ?7");
  if (f->started_to)
    g_string_append (sql, " AND r.started < ?8");
  if (f->sweep)
    g_string_append (sql, " AND r.sweep = ?13");
  if (f->group_by) {
    g_autofree char *made = NULL;
    g_string_append_printf (sql, " AND CAST (%s AS TEXT) IS ?11",
                            lig_store_find_setting (f->group_by, "?10", &made));
  }
  return sql;
}

static char *
order_statement (GString *sql, const LigRunFilter *f, LigRunOrder order, gboolean descending)
{
  g_autofree char *made = NULL;
  const char *by = order == LIG_RUN_BY_SETTING
                     ? lig_store_find_setting (f->order_by ? f->order_by : "", "?12", &made)
                     : orders[order];
  const char *direction = descending ? "DESC" : "ASC";
  g_string_append (sql, " ORDER BY ");
  if (order >= LIG_RUN_BY_STEPS)
    g_string_append_printf (sql, "%s IS NULL, ", by);
  if (order != LIG_RUN_BY_START)
    g_string_append_printf (sql, "%s %s, r.started DESC, r.id DESC", by, direction);
  else
    g_string_append_printf (sql, "%s %s, r.id %s", by, direction, direction);
  return g_string_free (sql, FALSE);
}

/* Returns the keys of the runs with status `running` whose process is gone, or NULL with an error
 * set. */
static GHashTable *
find_gone (LigStore *self, GError **error)
{
  static const char sql[] =
    "SELECT id, boot, pid, process_start, heartbeat FROM run WHERE status = 'running'";
  g_autoptr (GHashTable) gone = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "");
  while (row && lig_sql_next (row, &failure)) {
    gint64 key = sqlite3_column_int64 (row, 0);
    if (lig_process_is_gone (lig_sql_string (row, 1), sqlite3_column_int64 (row, 2),
                             sqlite3_column_int64 (row, 3), sqlite3_column_int64 (row, 4)))
      g_hash_table_add (gone, g_memdup2 (&key, sizeof key));
  }
  lig_store_end_read (self, row);
  if (!failure)
    return g_steal_pointer (&gone);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* Returns whether a run that is stored as `running` has the requested status. */
static gboolean
has_status (const char *status, GHashTable *gone, gint64 key)
{
  const char *real = g_hash_table_contains (gone, &key) ? "interrupted" : "running";
  return strcmp (status, real) == 0;
}

GArray *
lig_store_list_keys (LigStore *self,
                     const LigRunFilter *filter,
                     LigRunOrder order,
                     gboolean descending,
                     GError **error)
{
  static const LigRunFilter all = {0};
  g_return_val_if_fail (LIG_IS_STORE (self) && order < LIG_RUN_N_ORDERS, NULL);
  const LigRunFilter *f = filter ? filter : &all;
  GString *statement = make_statement ("SELECT r.id, r.status = 'running'", f);
  g_autofree char *sql = order_statement (statement, f, order, descending);
  g_autoptr (GHashTable) gone = find_gone (self, error);
  if (!gone)
    return NULL;
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GError) failure = NULL;
  g_autofree char *path = lig_store_make_path (f->group_by),
                  *order_path = lig_store_make_path (f->order_by);
  sqlite3_stmt *row =
    lig_store_begin_read (self, &failure, sql, "ttttitiiittttt", f->text, f->status, f->device,
                          f->tag, (gint64) 0, f->kind, f->started_from, f->started_to,
                          g_get_real_time (), path, f->group, order_path, f->sweep, f->name);
  while (row && (f->limit <= 0 || keys->len < (guint) f->limit) && lig_sql_next (row, &failure)) {
    gint64 key = sqlite3_column_int64 (row, 0);
    if (!f->status || !sqlite3_column_int (row, 1) || has_status (f->status, gone, key))
      g_array_append_val (keys, key);
  }
  lig_store_end_read (self, row);
  if (!failure)
    return g_steal_pointer (&keys);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* Returns the only number of a statement's result, -1 with an error set. */
static gint64
count_rows (LigStore *self, const char *sql, GError **error)
{
  g_autoptr (GError) failure = NULL;
  gint64 count = -1;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "");
  if (row && lig_sql_next (row, &failure))
    count = sqlite3_column_int64 (row, 0);
  lig_store_end_read (self, row);
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  return count;
}

gint64
lig_store_count_runs (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), -1);
  return count_rows (self, "SELECT count (*) FROM run WHERE deleted IS NULL", error);
}

gint64
lig_store_count_trash (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), -1);
  return count_rows (self, "SELECT count (*) FROM run WHERE deleted IS NOT NULL", error);
}

/* --- Values of columns --------------------------------------------------------------------- */

/* A run that is stored as running may be interrupted, so the list must contain both. */
static void
add_interrupted (GPtrArray *values)
{
  gboolean running = FALSE;
  for (guint i = 0; i < values->len; i++) {
    if (strcmp (values->pdata[i], "interrupted") == 0)
      return;
    running = running || strcmp (values->pdata[i], "running") == 0;
  }
  if (running)
    g_ptr_array_insert (values, (int) values->len - 1, g_strdup ("interrupted"));
}

GStrv
lig_store_list_values (LigStore *self, const char *column, GError **error)
{
  static const char *const statements[][2] = {
    {"status", "SELECT DISTINCT status FROM run ORDER BY 1"},
    {"device", "SELECT DISTINCT device FROM run ORDER BY 1"},
    {"kind", "SELECT DISTINCT kind FROM run ORDER BY 1"},
    {"tag", "SELECT DISTINCT tag FROM tag ORDER BY 1"},
  };
  g_return_val_if_fail (LIG_IS_STORE (self) && column, NULL);
  const char *sql = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (statements); i++)
    if (strcmp (column, statements[i][0]) == 0)
      sql = statements[i][1];
  g_return_val_if_fail (sql, NULL);
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "");
  while (row && lig_sql_next (row, &failure))
    g_ptr_array_add (values, lig_sql_text (row, 0));
  lig_store_end_read (self, row);
  if (failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return NULL;
  }
  if (strcmp (column, "status") == 0)
    add_interrupted (values);
  g_ptr_array_add (values, NULL);
  g_ptr_array_set_free_func (values, NULL);
  return (GStrv) g_ptr_array_free (g_steal_pointer (&values), FALSE);
}

gint64
lig_store_get_data_version (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), 0);
  g_autoptr (GError) failure = NULL;
  gint64 version = 0;
  /* PRAGMA data_version does not count the changes of its own connection; the reading connection
   * writes nothing, so the changes of this process are counted, too. */
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, "PRAGMA data_version", "");
  if (row && lig_sql_next (row, &failure))
    version = sqlite3_column_int64 (row, 0);
  lig_store_end_read (self, row);
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  return version;
}
