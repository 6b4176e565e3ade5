/* SPDX-License-Identifier: MIT */
/* What was measured once and for all: fusions, algorithms, devices; and the journal of edits. */
#include "engine/store/private.h"

gboolean
lig_store_get_tuning (LigStore *self, const char *key, double *microseconds, char **choice)
{
  static const char sql[] = "SELECT microseconds, choice FROM tuning WHERE key = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && key, FALSE);
  sqlite3_stmt *statement = lig_store_begin_read (self, NULL, sql, "t", key);
  gboolean found = statement && lig_sql_next (statement, NULL);
  if (found && microseconds)
    *microseconds = lig_sql_real (statement, 0);
  if (found && choice)
    *choice = lig_sql_text (statement, 1);
  lig_store_end_read (self, statement);
  return found;
}

gboolean
lig_store_put_tuning (
  LigStore *self, const char *key, double microseconds, const char *choice, GError **error)
{
  static const char sql[] = "INSERT OR REPLACE INTO tuning (key, microseconds, choice, measured)"
                            " VALUES (?1, ?2, ?3, ?4)";
  g_return_val_if_fail (LIG_IS_STORE (self) && key, FALSE);
  gint64 now = g_get_real_time ();
  return lig_store_write (self, error, sql, "tdti", key, microseconds, choice, now) >= 0;
}

char *
lig_store_get_device (LigStore *self, const char *name, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && name, NULL);
  sqlite3_stmt *statement =
    lig_store_begin_read (self, error, "SELECT json FROM device WHERE name = ?1", "t", name);
  char *json = statement && lig_sql_next (statement, error) ? lig_sql_text (statement, 0) : NULL;
  lig_store_end_read (self, statement);
  return json;
}

gboolean
lig_store_put_device (LigStore *self, const char *name, const char *json, GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO device (name, json, measured) VALUES (?1, ?2, ?3)";
  g_return_val_if_fail (LIG_IS_STORE (self) && name && json, FALSE);
  return lig_store_write (self, error, sql, "tti", name, json, g_get_real_time ()) >= 0;
}

GStrv
lig_store_get_edits (LigStore *self, const char *document, GError **error)
{
  static const char sql[] = "SELECT json FROM edit WHERE document = ?1 ORDER BY id";
  g_return_val_if_fail (LIG_IS_STORE (self) && document, NULL);
  g_autoptr (GStrvBuilder) edits = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", document);
  while (statement && lig_sql_next (statement, &failure))
    g_strv_builder_add (edits, lig_sql_string (statement, 0));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_strv_builder_end (edits);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

gboolean
lig_store_append_edit (LigStore *self, const char *document, const char *json, GError **error)
{
  static const char sql[] = "INSERT INTO edit (document, json, made) VALUES (?1, ?2, ?3)";
  g_return_val_if_fail (LIG_IS_STORE (self) && document && json, FALSE);
  return lig_store_write (self, error, sql, "tti", document, json, g_get_real_time ()) >= 0;
}

gboolean
lig_store_clear_edits (LigStore *self, const char *document, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && document, FALSE);
  return lig_store_write (self, error, "DELETE FROM edit WHERE document = ?1", "t", document) >= 0;
}
