/* SPDX-License-Identifier: MIT */
#include "engine/store/private.h"
#include <ligature/store-trash.h>

/* Sets when the runs were deleted, in one transaction; 0: they are not. */
static gboolean
set_deleted (LigStore *self, const char *const *runs, guint count, gint64 deleted, GError **error)
{
  static const char sql[] = "UPDATE run SET deleted = nullif (?2, 0) WHERE uuid = ?1";
  g_mutex_lock (&self->write_lock);
  gboolean done = lig_sql_begin (self->db, error);
  if (done) {
    for (guint i = 0; done && i < count; i++)
      done = lig_sql_run (self->db, error, sql, "ti", runs[i], deleted);
    done = lig_sql_end (self->db, done, error);
  }
  g_mutex_unlock (&self->write_lock);
  return done;
}

gboolean
lig_store_trash_runs (LigStore *self, const char *const *runs, guint count, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && (runs || count == 0), FALSE);
  return set_deleted (self, runs, count, g_get_real_time (), error);
}

gboolean
lig_store_restore_runs (LigStore *self, const char *const *runs, guint count, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && (runs || count == 0), FALSE);
  return set_deleted (self, runs, count, 0, error);
}

GStrv
lig_store_list_trash (LigStore *self, gint64 before, GError **error)
{
  static const char sql[] =
    "SELECT uuid FROM run WHERE deleted IS NOT NULL AND deleted < ?1 ORDER BY deleted, id";
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  g_autoptr (GStrvBuilder) runs = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *row = lig_store_begin_read (self, &failure, sql, "i", before);
  while (row && lig_sql_next (row, &failure))
    g_strv_builder_add (runs, lig_sql_string (row, 0));
  lig_store_end_read (self, row);
  if (!failure)
    return g_strv_builder_end (runs);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
