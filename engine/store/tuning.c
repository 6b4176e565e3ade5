/* SPDX-License-Identifier: MIT */
/* Cached measurements of fusions, algorithms and devices. */
#include "engine/store/tuning.h"

#include "engine/store/private.h"

gboolean
lig_store_get_tuning (
  LigStore *self, const char *key, double *microseconds, double *noise, char **choice)
{
  static const char sql[] = "SELECT microseconds, choice, noise FROM tuning WHERE key = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && key, FALSE);
  sqlite3_stmt *statement = lig_store_begin_read (self, NULL, sql, "t", key);
  gboolean found = statement && lig_sql_next (statement, NULL);
  if (found && microseconds)
    *microseconds = lig_sql_real (statement, 0);
  if (found && choice)
    *choice = lig_sql_text (statement, 1);
  if (found && noise)
    *noise = lig_sql_real (statement, 2);
  lig_store_end_read (self, statement);
  return found;
}

char *
lig_store_list_choices (LigStore *self, const char *part)
{
  static const char sql[] = "SELECT key, choice FROM tuning WHERE choice IS NOT NULL"
                            " AND instr (key, ?1) > 0 ORDER BY key";
  g_return_val_if_fail (LIG_IS_STORE (self) && part, NULL);
  g_autoptr (GString) lines = g_string_new (NULL);
  sqlite3_stmt *statement = lig_store_begin_read (self, NULL, sql, "t", part);
  while (statement && lig_sql_next (statement, NULL)) {
    g_autofree char *key = lig_sql_text (statement, 0), *choice = lig_sql_text (statement, 1);
    g_string_append_printf (lines, "%s\t%s\n", key, choice);
  }
  lig_store_end_read (self, statement);
  return g_string_free (g_steal_pointer (&lines), FALSE);
}

gboolean
lig_store_put_tuning (LigStore *self,
                      const char *key,
                      double microseconds,
                      double noise,
                      const char *choice,
                      GError **error)
{
  static const char sql[] =
    "INSERT INTO tuning (key, microseconds, choice, measured, noise) VALUES (?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT (key) DO UPDATE SET microseconds = excluded.microseconds,"
    " choice = excluded.choice, measured = excluded.measured, noise = excluded.noise"
    " WHERE excluded.choice IS NOT NULL OR tuning.microseconds IS NULL";
  g_return_val_if_fail (LIG_IS_STORE (self) && key, FALSE);
  gint64 now = g_get_real_time ();
  return lig_store_write (self, error, sql, "tdtid", key, microseconds, choice, now, noise) >= 0;
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
