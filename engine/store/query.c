/* SPDX-License-Identifier: MIT */
/* Reads runs. */
#include "engine/store/private.h"
#include "engine/store/process.h"

#include <string.h>

/* The strings of a row in the order of the columns below. Adjacent rows share equal strings,
 * because a list of many runs repeats few sequences and settings. */
static const gsize strings[] = {
  G_STRUCT_OFFSET (LigRunRow, uuid),     G_STRUCT_OFFSET (LigRunRow, name),
  G_STRUCT_OFFSET (LigRunRow, kind),     G_STRUCT_OFFSET (LigRunRow, device),
  G_STRUCT_OFFSET (LigRunRow, dtype),    G_STRUCT_OFFSET (LigRunRow, recipe),
  G_STRUCT_OFFSET (LigRunRow, policy),   G_STRUCT_OFFSET (LigRunRow, settings),
  G_STRUCT_OFFSET (LigRunRow, versions), G_STRUCT_OFFSET (LigRunRow, sequence),
  G_STRUCT_OFFSET (LigRunRow, status),   G_STRUCT_OFFSET (LigRunRow, message),
  G_STRUCT_OFFSET (LigRunRow, host),     G_STRUCT_OFFSET (LigRunRow, revision),
  G_STRUCT_OFFSET (LigRunRow, notes),    G_STRUCT_OFFSET (LigRunRow, parent),
  G_STRUCT_OFFSET (LigRunRow, sweep),
};

#define COLUMNS \
  "SELECT r.uuid, e.name, r.kind, r.device, r.dtype, r.recipe, r.policy, r.settings, r.versions," \
  " e.sequence, r.status, r.message, r.host, r.revision, r.notes, r.parent, r.sweep, r.seed," \
  " r.started, r.ended," \
  " r.starred, (SELECT group_concat (tag, char (31)) FROM tag WHERE run = r.id), r.last_step," \
  " r.first_loss, r.last_loss, r.eval_loss, r.eval_accuracy, r.boot, r.pid, r.process_start," \
  " r.heartbeat, r.step_ms, r.saved_step, r.point, r.eval_rows FROM run r JOIN experiment e ON " \
  "e.id = " \
  "r.experiment "

enum {
  STATUS = 10,
  SEED = G_N_ELEMENTS (strings),
  STARTED,
  ENDED,
  STARRED,
  TAGS,
  LAST_STEP,
  FIRST_LOSS,
  LAST_LOSS,
  EVAL_LOSS,
  EVAL_ACCURACY,
  BOOT,
  PID,
  PROCESS_START,
  BEAT,
  STEP_MS,
  SAVED_STEP,
  POINT,
  EVAL_ROWS,
};

G_DEFINE_BOXED_TYPE (LigRunRow, lig_run_row, lig_run_row_copy, lig_run_row_free)

LigRunRow *
lig_run_row_copy (const LigRunRow *row)
{
  g_return_val_if_fail (row, NULL);
  LigRunRow *copy = g_memdup2 (row, sizeof *row);
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    g_ref_string_acquire (G_STRUCT_MEMBER (char *, copy, strings[i]));
  copy->tags = g_strdupv (row->tags);
  return copy;
}

void
lig_run_row_free (LigRunRow *row)
{
  if (!row)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    g_ref_string_release (G_STRUCT_MEMBER (char *, row, strings[i]));
  g_strfreev (row->tags);
  g_free (row);
}

static GStrv
split_tags (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  return *text ? g_strsplit (valid, "\x1f", -1) : g_new0 (char *, 1);
}

/* Returns the current row; `before` is the previous row, or NULL. */
static LigRunRow *
read_row (sqlite3_stmt *from, const LigRunRow *before)
{
  LigRunRow *row = g_new0 (LigRunRow, 1);
  gboolean gone = strcmp (lig_sql_string (from, STATUS), "running") == 0 &&
                  lig_process_is_gone (
                    lig_sql_string (from, BOOT), sqlite3_column_int64 (from, PID),
                    sqlite3_column_int64 (from, PROCESS_START), sqlite3_column_int64 (from, BEAT));
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++) {
    const char *text = gone && i == STATUS ? "interrupted" : lig_sql_string (from, i);
    g_autofree char *valid = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);
    text = valid ? valid : text;
    char *shared = before ? G_STRUCT_MEMBER (char *, before, strings[i]) : NULL;
    if (shared && strcmp (shared, text) == 0)
      g_ref_string_acquire (shared);
    else
      shared = g_ref_string_new (text);
    G_STRUCT_MEMBER (char *, row, strings[i]) = shared;
  }
  row->seed = (guint64) sqlite3_column_int64 (from, SEED);
  row->started = sqlite3_column_int64 (from, STARTED);
  row->ended = sqlite3_column_int64 (from, gone ? BEAT : ENDED);
  row->starred = sqlite3_column_int (from, STARRED) != 0;
  row->tags = split_tags (lig_sql_string (from, TAGS));
  row->last_step = -1;
  if (sqlite3_column_type (from, LAST_STEP) != SQLITE_NULL)
    row->last_step = sqlite3_column_int64 (from, LAST_STEP);
  row->first_loss = lig_sql_real (from, FIRST_LOSS);
  row->last_loss = lig_sql_real (from, LAST_LOSS);
  row->eval_loss = lig_sql_real (from, EVAL_LOSS);
  row->eval_accuracy = lig_sql_real (from, EVAL_ACCURACY);
  row->step_ms = lig_sql_real (from, STEP_MS);
  row->saved_step = -1;
  if (sqlite3_column_type (from, SAVED_STEP) != SQLITE_NULL)
    row->saved_step = sqlite3_column_int64 (from, SAVED_STEP);
  row->eval_rows = sqlite3_column_int64 (from, EVAL_ROWS);
  row->point = -1;
  if (sqlite3_column_type (from, POINT) != SQLITE_NULL)
    row->point = sqlite3_column_int64 (from, POINT);
  return row;
}

GPtrArray *
lig_store_list_runs (LigStore *self, const LigRunFilter *filter, GError **error)
{
  g_autoptr (GArray) keys = lig_store_list_keys (self, filter, LIG_RUN_BY_START, TRUE, error);
  if (!keys)
    return NULL;
  GPtrArray *rows =
    lig_store_read_runs (self, (const gint64 *) (gpointer) keys->data, keys->len, error);
  /* A run may be deleted between the two queries. */
  while (rows && g_ptr_array_remove (rows, NULL))
    ;
  return rows;
}

GPtrArray *
lig_store_read_runs (LigStore *self, const gint64 *keys, guint count, GError **error)
{
  static const char sql[] = COLUMNS "WHERE r.id = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && (keys || !count), NULL);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_autoptr (GError) failure = NULL;
  const LigRunRow *before = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "i", (gint64) 0);
  sqlite3 *db = statement ? sqlite3_db_handle (statement) : NULL;
  /* One transaction locks the file once and reads all rows from one snapshot. */
  gboolean begun = count > 1 && db && lig_sql_exec (db, "BEGIN", &failure);
  for (guint i = 0; statement && !failure && i < count; i++) {
    sqlite3_reset (statement);
    sqlite3_bind_int64 (statement, 1, keys[i]);
    LigRunRow *row = NULL;
    if (lig_sql_next (statement, &failure))
      before = row = read_row (statement, before);
    g_ptr_array_add (rows, row);
  }
  if (begun) {
    sqlite3_reset (statement);
    lig_sql_exec (db, "COMMIT", failure ? NULL : &failure);
  }
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
