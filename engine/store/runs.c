/* SPDX-License-Identifier: MIT */
/* Begins, resumes and ends runs, and records the data that they report. */
#include "engine/base/file.h"
#include "engine/store/file.h"
#include "engine/store/guard.h"
#include "engine/store/private.h"
#include "engine/store/process.h"
#include "engine/store/writing.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

typedef struct {
  LigStore *store;
  GError **error;
  const char *sql, *types;
  va_list values;
  int changed;
} Write;

static void
write_now (gpointer data)
{
  Write *write = data;
  sqlite3 *db = write->store->db;
  write->changed = -1;
  if (!lig_sql_begin (db, write->error))
    return;
  gboolean done = lig_sql_run_list (db, write->error, write->sql, write->types, write->values);
  int rows = sqlite3_changes (db);
  if (lig_sql_end (db, done, write->error))
    write->changed = rows;
}

int
lig_store_write (LigStore *self, GError **error, const char *sql, const char *types, ...)
{
  Write write = {.store = self, .error = error, .sql = sql, .types = types, .changed = -1};
  gboolean whole = FALSE;
  g_mutex_lock (&self->write_lock);
  if (!lig_writer_is_broken (self->writer)) {
    va_start (write.values, types);
    whole = lig_guard_run (write_now, &write);
    va_end (write.values);
  }
  if (!whole) {
    write.changed = -1;
    lig_writer_break (self->writer);
    if (error)
      g_clear_error (error);
    lig_guard_fail (self->path, error);
  }
  g_mutex_unlock (&self->write_lock);
  return write.changed;
}

gboolean
lig_store_is_lost (LigStore *self)
{
  g_return_val_if_fail (LIG_IS_STORE (self), FALSE);
  return lig_writer_is_broken (self->writer);
}

static gboolean
fail_missing (LigStore *self, const char *run, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
               run);
  return FALSE;
}

/* Returns whether a run was changed, given the number of changed rows; sets an error if it is 0. */
static gboolean
expect_run (LigStore *self, const char *run, int changed, GError **error)
{
  return changed == 0 ? fail_missing (self, run, error) : changed > 0;
}

/* Returns the revision from the environment, as set by continuous integration, or NULL. */
static const char *
find_revision (void)
{
  static const char *const names[] = {"GIT_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const char *value = g_getenv (names[i]);
    if (value && *value)
      return value;
  }
  return NULL;
}

static const char *
or_empty (const char *text)
{
  return text ? text : "";
}

/* Adds the rows of a new run within a transaction. */
static gboolean
insert_run (LigStore *self, const char *uuid, const LigRunRecord *record, GError **error)
{
  static const char add_experiment[] =
    "INSERT OR IGNORE INTO experiment (name, hash, sequence) VALUES (?1, ?2, ?3)";
  static const char add_run[] =
    "INSERT INTO run (uuid, experiment, kind, device, dtype, recipe, policy, seed, settings,"
    " versions, status, started, host, boot, pid, process_start, heartbeat, revision, parent,"
    " inputs)"
    " SELECT ?3, id, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'running', ?12, ?13, ?14, ?15, ?16, ?12,"
    " ?17, ?18, ?19 FROM experiment WHERE name = ?1 AND hash = ?2";
  const LigProcess *process = lig_process_get_self ();
  const char *name = or_empty (record->name), *sequence = or_empty (record->sequence);
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, sequence, -1);
  return lig_sql_run (self->db, error, add_experiment, "ttt", name, hash, sequence) &&
         lig_sql_run (self->db, error, add_run,
                      "tttttttt"
                      "ittittiittt",
                      name, hash, uuid, or_empty (record->kind), or_empty (record->device),
                      or_empty (record->dtype), or_empty (record->recipe),
                      or_empty (record->policy), (gint64) record->seed, or_empty (record->settings),
                      or_empty (record->versions), g_get_real_time (), process->host, process->boot,
                      process->pid, process->start, find_revision (), record->parent,
                      record->inputs);
}

char *
lig_store_begin_run (LigStore *self, const LigRunRecord *record, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && record, NULL);
  g_autofree char *uuid = g_uuid_string_random ();
  gint64 id = 0;
  if (!lig_store_file_is_same (self->path, &self->file, error))
    return NULL;
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = insert_run (self, uuid, record, error);
    id = sqlite3_last_insert_rowid (self->db);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  if (!done)
    return NULL;
  lig_writer_enlist (self->writer, uuid, id);
  return g_steal_pointer (&uuid);
}

/* Returns whether no other process runs the run; call it within a transaction. */
static gboolean
check_free (LigStore *self, const char *run, gint64 *id, GError **error)
{
  static const char sql[] =
    "SELECT id, status, boot, pid, process_start, heartbeat, host FROM run WHERE uuid = ?1";
  const LigProcess *process = lig_process_get_self ();
  g_autoptr (sqlite3_stmt) row = lig_sql_prepare (self->db, error, sql, "t", run);
  g_autoptr (GError) failure = NULL;
  if (!row)
    return FALSE;
  if (!lig_sql_next (row, &failure)) {
    if (!failure)
      return fail_missing (self, run, error);
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  *id = sqlite3_column_int64 (row, 0);
  const char *boot = lig_sql_string (row, 2);
  gint64 pid = sqlite3_column_int64 (row, 3), start = sqlite3_column_int64 (row, 4);
  gboolean own =
    strcmp (boot, process->boot) == 0 && pid == process->pid && start == process->start;
  if (own || strcmp (lig_sql_string (row, 1), "running") != 0 ||
      lig_process_is_gone (boot, pid, start, sqlite3_column_int64 (row, 5)))
    return TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_STORE,
    _ ("run '%s' is running in process %" PRId64 " on %s; wait until it ends, or stop it"), run,
    pid, lig_sql_string (row, 6));
  return FALSE;
}

gboolean
lig_store_check_idle (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, FALSE);
  gint64 id = 0;
  g_mutex_lock (&self->write_lock);
  gboolean idle = check_free (self, run, &id, error);
  g_mutex_unlock (&self->write_lock);
  return idle;
}

gboolean
lig_store_resume_run (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "UPDATE run SET status = 'running', message = NULL, ended = NULL, deleted = NULL, host = ?2,"
    " boot = ?3,"
    " pid = ?4, process_start = ?5, heartbeat = ?6 WHERE id = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, FALSE);
  const LigProcess *process = lig_process_get_self ();
  gint64 id = 0;
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    done = check_free (self, run, &id, error) &&
           lig_sql_run (self->db, error, sql, "ittiii", id, process->host, process->boot,
                        process->pid, process->start, g_get_real_time ());
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  if (done)
    lig_writer_enlist (self->writer, run, id);
  return done;
}

/* The median of the last 1,000 steps, because reading all steps of a long run would take seconds;
 * for a profile its step, in older stores the sum of its groups. */
#define STEP_MS \
  "CASE kind WHEN 'profile' THEN coalesce (" \
  "  (SELECT microseconds / 1000 FROM spread WHERE run = run.id AND figure = 'step')," \
  "  (SELECT sum (microseconds) / 1000 FROM timing WHERE run = run.id))" \
  " ELSE (SELECT value FROM (" \
  "  SELECT value, row_number () OVER (ORDER BY value) AS place, count (*) OVER () AS n FROM (" \
  "   SELECT value FROM metric WHERE run = run.id AND name = 'step-ms'" \
  "   ORDER BY step DESC LIMIT 1000)) WHERE place = n / 2 + 1) END"

/* Returns an error with the number of values that a run reported but that are not in the store;
 * NULL if none is missing. */
static GError *
find_missing (LigStore *self, const char *run)
{
  g_autofree char *why = NULL;
  guint64 missing = lig_writer_count_missing (self->writer, run, &why);
  g_autofree char *count = lig_format_count ((gint64) missing);
  if (missing == 0)
    return NULL;
  return g_error_new (LIG_ERROR, LIG_ERROR_STORE,
                      _ ("run '%.8s': %s %s missing from the store: %s"), run, count,
                      missing == 1 ? _ ("value is") : _ ("values are"), why ? why : "");
}

gboolean
lig_store_finish_run (
  LigStore *self, const char *run, const char *status, const char *message, GError **error)
{
  static const char *const statuses[] = {"done", "failed", "cancelled", "interrupted", NULL};
  static const char sql[] =
    "UPDATE run SET status = ?2, message = ?3, ended = ?4, heartbeat = ?4, step_ms = " STEP_MS
    " WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, FALSE);
  g_return_val_if_fail (status && g_strv_contains (statuses, status), FALSE);
  g_autoptr (GError) failure = NULL, missing = NULL;
  /* A later heartbeat would mark the run as running again. */
  lig_writer_dismiss (self->writer, run);
  gboolean flushed = lig_writer_flush (self->writer, &failure);
  if (!lig_store_file_is_same (self->path, &self->file, error))
    return FALSE;
  missing = find_missing (self, run);
  if (missing && strcmp (status, "done") == 0)
    status = "failed";
  if (missing && !message)
    message = missing->message;
  int changed = lig_store_write (self, flushed && !missing ? error : NULL, sql, "ttti", run, status,
                                 message, g_get_real_time ());
  if (missing || !flushed) {
    g_propagate_error (error, missing ? g_steal_pointer (&missing) : g_steal_pointer (&failure));
    return FALSE;
  }
  return expect_run (self, run, changed, error);
}

void
lig_store_add_metric (LigStore *self, const char *run, gint64 step, const char *name, double value)
{
  g_return_if_fail (LIG_IS_STORE (self) && run && name);
  lig_writer_add_metric (self->writer, run, step, name, value);
}

void
lig_store_add_timing (LigStore *self,
                      const char *run,
                      gint64 step,
                      int group,
                      const char *pass,
                      double microseconds,
                      double bytes,
                      double flops)
{
  g_return_if_fail (LIG_IS_STORE (self) && run && pass);
  lig_writer_add_timing (self->writer, run, step, group, pass,
                         (double[]){microseconds, bytes, flops});
}

void
lig_store_add_fusion (LigStore *self,
                      const char *run,
                      const char *pass,
                      int group,
                      int first_op,
                      int count,
                      const char *fusion)
{
  g_return_if_fail (LIG_IS_STORE (self) && run && pass);
  const gint64 integers[LIG_ROW_INTEGERS] = {group, first_op, count};
  const char *const texts[LIG_ROW_TEXTS] = {pass, fusion};
  lig_writer_add_row (self->writer, run, LIG_ROW_FUSION, integers, texts);
}

void
lig_store_add_verdict (LigStore *self,
                       const char *run,
                       const char *fusion,
                       const char *pass,
                       int first_op,
                       int count,
                       gboolean taken,
                       const char *reason,
                       const char *observed,
                       const char *required,
                       const char *text)
{
  g_return_if_fail (LIG_IS_STORE (self) && run && fusion && pass);
  const gint64 integers[LIG_ROW_INTEGERS] = {first_op, count, taken != FALSE};
  const char *const texts[LIG_ROW_TEXTS] = {fusion, pass, reason, observed, required, text};
  lig_writer_add_row (self->writer, run, LIG_ROW_VERDICT, integers, texts);
}

void
lig_store_add_artifact (LigStore *self, const char *run, const char *kind, const char *path)
{
  g_return_if_fail (LIG_IS_STORE (self) && run && kind && path);
  const gint64 integers[LIG_ROW_INTEGERS] = {g_get_real_time ()};
  const char *const texts[LIG_ROW_TEXTS] = {kind, path};
  lig_writer_add_row (self->writer, run, LIG_ROW_ARTIFACT, integers, texts);
}

void
lig_store_add_saved_step (LigStore *self, const char *run, gint64 step)
{
  g_return_if_fail (LIG_IS_STORE (self) && run);
  const gint64 integers[LIG_ROW_INTEGERS] = {step};
  const char *const texts[LIG_ROW_TEXTS] = {NULL};
  lig_writer_add_row (self->writer, run, LIG_ROW_SAVED, integers, texts);
}

void
lig_store_add_eval_rows (LigStore *self, const char *run, gint64 rows)
{
  g_return_if_fail (LIG_IS_STORE (self) && run);
  const gint64 integers[LIG_ROW_INTEGERS] = {rows};
  const char *const texts[LIG_ROW_TEXTS] = {NULL};
  lig_writer_add_row (self->writer, run, LIG_ROW_EVALUATED, integers, texts);
}

gboolean
lig_store_flush (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), FALSE);
  /* Rows written to a file that was deleted would be lost. */
  return lig_writer_flush (self->writer, error) &&
         lig_store_file_is_same (self->path, &self->file, error);
}

gboolean
lig_store_add_sample (LigStore *self, const char *run, const LigSampleRow *row, GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO sample (run, step, number, prompt, text, tokens, microseconds)"
    " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM run WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && row, FALSE);
  int changed = lig_store_write (self, error, sql, "tiitttd", run, row->step, row->number,
                                 row->prompt ? row->prompt : "", row->text ? row->text : "",
                                 row->tokens ? row->tokens : "", row->microseconds);
  if (changed == 0)
    return fail_missing (self, run, error);
  return changed > 0;
}
