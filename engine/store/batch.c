/* SPDX-License-Identifier: MIT */
/* Writes queued rows in one transaction. */
#include "engine/store/batch.h"
#include "engine/store/process.h"

#include <glib/gi18n-lib.h>
#include <string.h>

enum {
  ADD_METRIC = LIG_ROW_EVALUATED + 1,
  ADD_TIMING,
  FIND_RUN,
  SUMMARIZE,
  HEARTBEAT,
  N_STATEMENTS
};

G_STATIC_ASSERT (N_STATEMENTS <= G_N_ELEMENTS (((LigInserter *) 0)->statements));

/* The integers of a row begin at ?2, its texts at ?5. A heartbeat also marks a run as running again
 * that another process marked as interrupted, for example because the machine was suspended, unless
 * another process has resumed the run. */
static const char *const statements[] = {
  [LIG_ROW_FUSION] = "INSERT OR REPLACE INTO fusion (run, \"group\", first_op, count, pass, fusion)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
  [LIG_ROW_VERDICT] =
    "INSERT OR REPLACE INTO verdict (run, first_op, count, taken, fusion, pass, reason, observed,"
    " required, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
  [LIG_ROW_ARTIFACT] = "INSERT OR REPLACE INTO artifact (run, created, kind, path)"
                       " VALUES (?1, ?2, ?5, ?6)",
  [LIG_ROW_SAVED] = "UPDATE run SET saved_step = max (coalesce (saved_step, ?2), ?2)"
                    " WHERE id = ?1",
  [LIG_ROW_EVALUATED] = "UPDATE run SET eval_rows = ?2 WHERE id = ?1",
  [ADD_METRIC] = "INSERT OR REPLACE INTO metric (run, step, name, value) VALUES (?1, ?2, ?3, ?4)",
  [ADD_TIMING] = "INSERT OR REPLACE INTO timing (run, step, \"group\", pass, microseconds, bytes,"
                 " flops) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
  [FIND_RUN] = "SELECT id FROM run WHERE uuid = ?1",
  [SUMMARIZE] = "UPDATE run SET last_step = max (coalesce (last_step, ?2), ?2)," LIG_SQL_LOSSES
                " WHERE id = ?1",
  [HEARTBEAT] = "UPDATE run SET heartbeat = ?2, status = 'running', ended = NULL"
                " WHERE id = ?1 AND status IN ('running', 'interrupted')"
                " AND boot = ?3 AND pid = ?4 AND process_start = ?5",
};

static void
clear_row (gpointer data)
{
  LigQueuedRow *row = data;
  for (int i = 0; i < LIG_ROW_TEXTS; i++)
    g_free (row->texts[i]);
}

void
lig_batch_init (LigBatch *self)
{
  self->metrics = g_array_new (FALSE, FALSE, sizeof (LigQueuedMetric));
  self->timings = g_array_new (FALSE, FALSE, sizeof (LigQueuedTiming));
  self->rows = g_array_new (FALSE, FALSE, sizeof (LigQueuedRow));
}

void
lig_batch_empty (LigBatch *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    clear_row (&g_array_index (self->rows, LigQueuedRow, i));
  g_array_set_size (self->metrics, 0);
  g_array_set_size (self->timings, 0);
  g_array_set_size (self->rows, 0);
}

void
lig_batch_clear (LigBatch *self)
{
  lig_batch_empty (self);
  g_array_unref (self->metrics);
  g_array_unref (self->timings);
  g_array_unref (self->rows);
}

guint
lig_batch_count (const LigBatch *self)
{
  return self->metrics->len + self->timings->len + self->rows->len;
}

void
lig_batch_append (LigBatch *self, LigBatch *from)
{
  g_array_append_vals (self->metrics, from->metrics->data, from->metrics->len);
  g_array_append_vals (self->timings, from->timings->data, from->timings->len);
  g_array_append_vals (self->rows, from->rows->data, from->rows->len);
  g_array_set_size (from->metrics, 0);
  g_array_set_size (from->timings, 0);
  g_array_set_size (from->rows, 0);
}

/* --- Too many rows ---------------------------------------------------------------------------- */

/* Series of at most this length are never thinned, for example evaluations. */
#define SHORT_SERIES 1024

typedef struct {
  const LigQueuedRun *run;
  const char *name;
  guint count;
} Series;

static Series *
find_series (GArray *all, const LigQueuedKey *key)
{
  for (guint i = 0; i < all->len; i++) {
    Series *series = &g_array_index (all, Series, i);
    if (series->run == key->run && series->name == key->name)
      return series;
  }
  Series new = {key->run, key->name, 0};
  g_array_append_val (all, new);
  return &g_array_index (all, Series, all->len - 1);
}

static const LigQueuedKey *
key_at (const GArray *rows, guint i)
{
  return (const LigQueuedKey *) (gconstpointer) (rows->data +
                                                 i * g_array_get_element_size ((GArray *) rows));
}

/* Drops the rows of long series with a step that is not a multiple of @stride, except the newest
 * eighth. */
static void
thin_rows (GArray *rows, gint64 stride)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Series));
  gsize size = g_array_get_element_size (rows);
  guint kept = 0, newest = rows->len - rows->len / 8;
  for (guint i = 0; i < rows->len; i++)
    find_series (all, key_at (rows, i))->count++;
  for (guint i = 0; i < rows->len; i++) {
    const LigQueuedKey *key = key_at (rows, i);
    if (i < newest && key->step % stride != 0 && find_series (all, key)->count > SHORT_SERIES)
      key->run->lost++;
    else
      memmove (rows->data + size * kept++, key, size);
  }
  g_array_set_size (rows, kept);
}

static void
drop_oldest (GArray *rows, guint max)
{
  guint surplus = rows->len > max ? rows->len - max : 0;
  for (guint i = 0; i < surplus; i++)
    key_at (rows, i)->run->lost++;
  if (surplus > 0)
    g_array_remove_range (rows, 0, surplus);
}

void
lig_batch_thin (LigBatch *self, guint max, gint64 *stride)
{
  while (lig_batch_count (self) > max && *stride < G_GINT64_CONSTANT (1) << 40) {
    *stride *= 2;
    thin_rows (self->metrics, *stride);
    thin_rows (self->timings, *stride);
  }
  /* Thinning does not help if all values have the same step, or if there are too many series. */
  if (lig_batch_count (self) > max) {
    drop_oldest (self->metrics, max / 2);
    drop_oldest (self->timings, max / 2);
  }
}

void
lig_batch_count_waiting (const LigBatch *self)
{
  for (guint i = 0; i < self->metrics->len; i++)
    key_at (self->metrics, i)->run->waiting++;
  for (guint i = 0; i < self->timings->len; i++)
    key_at (self->timings, i)->run->waiting++;
  for (guint i = 0; i < self->rows->len; i++)
    g_array_index (self->rows, LigQueuedRow, i).run->waiting++;
}

void
lig_inserter_init (LigInserter *self, sqlite3 *db, GMutex *db_lock)
{
  *self = (LigInserter){.db = db, .db_lock = db_lock, .touched = g_ptr_array_new ()};
}

void
lig_inserter_clear (LigInserter *self)
{
  for (int i = 0; i < N_STATEMENTS; i++)
    sqlite3_finalize (self->statements[i]);
  g_ptr_array_unref (self->touched);
  g_clear_error (&self->rejected);
}

static sqlite3_stmt *
get_statement (LigInserter *self, int which, GError **error)
{
  if (!self->statements[which])
    self->statements[which] = lig_sql_prepare (self->db, error, statements[which], "");
  return self->statements[which];
}

/* Counts a row whose content the database rejects; it is not tried again. */
static void
reject (LigInserter *self, LigQueuedRun *run)
{
  run->rejected++;
  const char *why = sqlite3_errmsg (self->db);
  if (sqlite3_extended_errcode (self->db) == SQLITE_CONSTRAINT_FOREIGNKEY)
    why = _ ("no such run in the store");
  if (!self->rejected)
    self->rejected =
      g_error_new (LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s': cannot add to run '%s': %s"),
                   sqlite3_db_filename (self->db, "main"), run->uuid, why);
}

/* Runs a bound statement. */
static gboolean
run_statement (LigInserter *self, sqlite3_stmt *statement, LigQueuedRun *run, GError **error)
{
  int code = sqlite3_step (statement);
  gboolean done = TRUE;
  if (code == SQLITE_CONSTRAINT)
    reject (self, run);
  else if (code != SQLITE_DONE)
    done = lig_sql_fail (self->db, _ ("cannot write"), error);
  sqlite3_reset (statement);
  return done;
}

/* Binds the run's number. A run that this store object did not begin is looked up once; the
 * database rejects the rows of an unknown run. */
static gboolean
bind_run (LigInserter *self, sqlite3_stmt *statement, LigQueuedRun *run, GError **error)
{
  if (!run->id) {
    sqlite3_stmt *find = get_statement (self, FIND_RUN, error);
    g_autoptr (GError) failure = NULL;
    if (!find)
      return FALSE;
    sqlite3_bind_text (find, 1, run->uuid, -1, SQLITE_STATIC);
    if (lig_sql_next (find, &failure))
      run->id = sqlite3_column_int64 (find, 0);
    else if (!failure)
      run->id = -1;
    sqlite3_reset (find);
    if (failure) {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  }
  sqlite3_bind_int64 (statement, 1, run->id);
  return TRUE;
}

static gboolean
write_metrics (LigInserter *self, const LigBatch *batch, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, ADD_METRIC, error);
  if (!statement)
    return FALSE;
  for (guint i = 0; i < batch->metrics->len; i++) {
    const LigQueuedMetric *metric = &g_array_index (batch->metrics, LigQueuedMetric, i);
    LigQueuedRun *run = metric->key.run;
    if (!bind_run (self, statement, run, error))
      return FALSE;
    sqlite3_bind_int64 (statement, 2, metric->key.step);
    sqlite3_bind_text (statement, 3, metric->key.name, -1, SQLITE_STATIC);
    sqlite3_bind_double (statement, 4, metric->value);
    if (!run_statement (self, statement, run, error))
      return FALSE;
    if (!run->touched)
      g_ptr_array_add (self->touched, run);
    run->last_step = run->touched ? MAX (run->last_step, metric->key.step) : metric->key.step;
    run->touched = TRUE;
  }
  return TRUE;
}

static gboolean
write_timings (LigInserter *self, const LigBatch *batch, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, ADD_TIMING, error);
  if (!statement)
    return FALSE;
  for (guint i = 0; i < batch->timings->len; i++) {
    const LigQueuedTiming *timing = &g_array_index (batch->timings, LigQueuedTiming, i);
    if (!bind_run (self, statement, timing->key.run, error))
      return FALSE;
    sqlite3_bind_int64 (statement, 2, timing->key.step);
    sqlite3_bind_int (statement, 3, timing->group);
    sqlite3_bind_text (statement, 4, timing->key.name, -1, SQLITE_STATIC);
    for (int j = 0; j < 3; j++)
      sqlite3_bind_double (statement, 5 + j, timing->numbers[j]);
    if (!run_statement (self, statement, timing->key.run, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_rows (LigInserter *self, const LigBatch *batch, GError **error)
{
  for (guint i = 0; i < batch->rows->len; i++) {
    const LigQueuedRow *row = &g_array_index (batch->rows, LigQueuedRow, i);
    sqlite3_stmt *statement = get_statement (self, row->kind, error);
    if (!statement || !bind_run (self, statement, row->run, error))
      return FALSE;
    int last = sqlite3_bind_parameter_count (statement);
    for (int j = 0; j < LIG_ROW_INTEGERS && 2 + j <= last; j++)
      sqlite3_bind_int64 (statement, 2 + j, row->integers[j]);
    for (int j = 0; j < LIG_ROW_TEXTS && 2 + LIG_ROW_INTEGERS + j <= last; j++)
      sqlite3_bind_text (statement, 2 + LIG_ROW_INTEGERS + j, row->texts[j], -1, SQLITE_STATIC);
    if (!run_statement (self, statement, row->run, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
write_summaries (LigInserter *self, GError **error)
{
  sqlite3_stmt *statement = get_statement (self, SUMMARIZE, error);
  gboolean done = statement != NULL;
  for (guint i = 0; done && i < self->touched->len; i++) {
    LigQueuedRun *run = self->touched->pdata[i];
    sqlite3_bind_int64 (statement, 1, run->id);
    sqlite3_bind_int64 (statement, 2, run->last_step);
    done = run_statement (self, statement, run, error);
  }
  return done;
}

static gboolean
write_heartbeats (LigInserter *self, const GPtrArray *beating, GError **error)
{
  const LigProcess *process = lig_process_get_self ();
  sqlite3_stmt *statement = get_statement (self, HEARTBEAT, error);
  gboolean done = statement != NULL;
  for (guint i = 0; done && i < beating->len; i++) {
    LigQueuedRun *run = beating->pdata[i];
    done = bind_run (self, statement, run, error);
    sqlite3_bind_int64 (statement, 2, g_get_real_time ());
    sqlite3_bind_text (statement, 3, process->boot, -1, SQLITE_STATIC);
    sqlite3_bind_int64 (statement, 4, process->pid);
    sqlite3_bind_int64 (statement, 5, process->start);
    done = done && run_statement (self, statement, run, error);
  }
  return done;
}

gboolean
lig_inserter_write (LigInserter *self,
                    const LigBatch *batch,
                    const GPtrArray *beating,
                    GError **error)
{
  if (!lig_batch_count (batch) && !beating->len)
    return TRUE;
  g_mutex_lock (self->db_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = write_metrics (self, batch, error) && write_timings (self, batch, error) &&
           write_rows (self, batch, error) && write_summaries (self, error) &&
           write_heartbeats (self, beating, error);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (self->db_lock);
  for (guint i = 0; i < self->touched->len; i++)
    ((LigQueuedRun *) self->touched->pdata[i])->touched = FALSE;
  g_ptr_array_set_size (self->touched, 0);
  return done;
}
