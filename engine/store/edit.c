/* SPDX-License-Identifier: MIT */
/* Changes that a user makes to stored runs. */
#include "engine/store/private.h"
#include "engine/store/writing.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Finds the number of a run in the database; call it within a transaction or with write_lock held.
 */
static gboolean
find_id (LigStore *self, const char *run, gint64 *id, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (sqlite3_stmt) row =
    lig_sql_prepare (self->db, error, "SELECT id FROM run WHERE uuid = ?1", "t", run);
  if (!row)
    return FALSE;
  if (lig_sql_next (row, &failure)) {
    *id = sqlite3_column_int64 (row, 0);
    return TRUE;
  }
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 run);
  return FALSE;
}

static void
finalize (gpointer data)
{
  sqlite3_finalize (data);
}

/* Prepares the statements once, because preparing a deletion takes longer than the deletion
 * (transfer full). Their second parameter, if any, is `text`. */
static GPtrArray *
prepare_all (LigStore *self, const char *const *statements, const char *text, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (finalize);
  for (int i = 0; statements[i]; i++) {
    const char *types = strstr (statements[i], "?2") ? "it" : "i";
    sqlite3_stmt *statement =
      lig_sql_prepare (self->db, error, statements[i], types, (gint64) 0, text);
    if (!statement)
      return NULL;
    g_ptr_array_add (all, statement);
  }
  return g_steal_pointer (&all);
}

static gboolean
change_one (LigStore *self, const char *run, GPtrArray *statements, GError **error)
{
  gint64 id = 0;
  if (!find_id (self, run, &id, error))
    return FALSE;
  for (guint i = 0; i < statements->len; i++) {
    sqlite3_stmt *statement = statements->pdata[i];
    sqlite3_reset (statement);
    if (sqlite3_bind_int64 (statement, 1, id) != SQLITE_OK ||
        sqlite3_step (statement) != SQLITE_DONE)
      return lig_sql_fail (self->db, _ ("cannot write"), error);
    sqlite3_reset (statement);
  }
  return TRUE;
}

/* Runs all statements for each run in one transaction. Each takes the run's number and, if it has a
 * second parameter, `text`. */
static gboolean
change_all (LigStore *self,
            const char *const *runs,
            guint count,
            const char *const *statements,
            const char *text,
            GError **error)
{
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    g_autoptr (GPtrArray) prepared = prepare_all (self, statements, text, error);
    done = prepared != NULL;
    for (guint k = 0; done && k < count; k++)
      done = change_one (self, runs[k], prepared, error);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  return done;
}

static gboolean
change (
  LigStore *self, const char *run, const char *const *statements, const char *text, GError **error)
{
  return change_all (self, &run, 1, statements, text, error);
}

gboolean
lig_store_set_settings (LigStore *self, const char *run, const char *settings, GError **error)
{
  static const char *const statements[] = {"UPDATE run SET settings = ?2 WHERE id = ?1", NULL};
  g_return_val_if_fail (LIG_IS_STORE (self) && run && settings, FALSE);
  return change (self, run, statements, settings, error);
}

gboolean
lig_store_set_inputs (LigStore *self, const char *run, const char *inputs, GError **error)
{
  static const char *const statements[] = {"UPDATE run SET inputs = ?2 WHERE id = ?1", NULL};
  g_return_val_if_fail (LIG_IS_STORE (self) && run && inputs, FALSE);
  return change (self, run, statements, inputs, error);
}

gboolean
lig_store_set_star (LigStore *self, const char *run, gboolean starred, GError **error)
{
  static const char *const star[] = {"UPDATE run SET starred = 1 WHERE id = ?1", NULL};
  static const char *const unstar[] = {"UPDATE run SET starred = 0 WHERE id = ?1", NULL};
  g_return_val_if_fail (LIG_IS_STORE (self) && run, FALSE);
  return change (self, run, starred ? star : unstar, NULL, error);
}

gboolean
lig_store_set_note (LigStore *self, const char *run, const char *note, GError **error)
{
  static const char *const statements[] = {"UPDATE run SET notes = ?2 WHERE id = ?1", NULL};
  g_return_val_if_fail (LIG_IS_STORE (self) && run, FALSE);
  return change (self, run, statements, note ? note : "", error);
}

gboolean
lig_store_add_tag (LigStore *self, const char *run, const char *tag, GError **error)
{
  static const char *const statements[] = {
    "INSERT OR IGNORE INTO tag (run, tag) VALUES (?1, ?2)",
    NULL,
  };
  g_return_val_if_fail (LIG_IS_STORE (self) && run && tag, FALSE);
  /* Lists of tags are joined with a control character, and are printed in one line. */
  for (const char *c = tag; *c || c == tag; c++)
    if (g_ascii_iscntrl (*c)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                   *c ? _ ("tag for run '%s' contains a control character")
                      : _ ("tag for run '%s' is empty"),
                   run);
      return FALSE;
    }
  return change (self, run, statements, tag, error);
}

gboolean
lig_store_remove_tag (LigStore *self, const char *run, const char *tag, GError **error)
{
  static const char *const statements[] = {"DELETE FROM tag WHERE run = ?1 AND tag = ?2", NULL};
  g_return_val_if_fail (LIG_IS_STORE (self) && run && tag, FALSE);
  return change (self, run, statements, tag, error);
}

gboolean
lig_store_delete_runs (LigStore *self, const char *const *runs, guint count, GError **error)
{
  /* An experiment is deleted together with its last run. */
  static const char *const statements[] = {
    "DELETE FROM experiment WHERE id = (SELECT experiment FROM run WHERE id = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM run WHERE experiment = experiment.id AND id != ?1)",
    "DELETE FROM run WHERE id = ?1",
    NULL,
  };
  g_return_val_if_fail (LIG_IS_STORE (self) && (runs || count == 0), FALSE);
  if (!change_all (self, runs, count, statements, NULL, error))
    return FALSE;
  for (guint i = 0; i < count; i++)
    lig_writer_dismiss (self->writer, runs[i]);
  return TRUE;
}

gboolean
lig_store_compact (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), FALSE);
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_exec (self->db, "VACUUM; PRAGMA wal_checkpoint (TRUNCATE)", error);
  g_mutex_unlock (&self->write_lock);
  return done;
}
