/* SPDX-License-Identifier: MIT */
/* SQLite with GErrors. */
#include "engine/store/sql.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <stdarg.h>

/* The time that SQLite waits for another writer, and the number of retries of a transaction. */
#define BUSY_TIMEOUT_MS 5000
#define BUSY_RETRIES 3

gboolean
lig_sql_fail (sqlite3 *db, const char *doing, GError **error)
{
  int code = sqlite3_errcode (db) & 0xff;
  int reason = sqlite3_system_errno (db);
  const char *path = sqlite3_db_filename (db, "main");
  if (!path)
    path = "";
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && reason)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s': %s: %s (%s)"), path, doing,
                 sqlite3_errmsg (db), g_strerror (reason));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s': %s: %s"), path, doing,
                 sqlite3_errmsg (db));
  return FALSE;
}

gboolean
lig_sql_is_damage (sqlite3 *db)
{
  int code = sqlite3_errcode (db) & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

static void
bind_bytes (sqlite3_stmt *statement, int i, GBytes *bytes)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);
  sqlite3_bind_blob64 (statement, i, data, size, SQLITE_STATIC);
}

sqlite3_stmt *
lig_sql_prepare_list (
  sqlite3 *db, GError **error, const char *sql, const char *types, va_list values)
{
  g_autoptr (sqlite3_stmt) statement = NULL;
  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) != SQLITE_OK) {
    lig_sql_fail (db, _ ("cannot read or write"), error);
    return NULL;
  }
  for (int i = 1; *types; i++, types++) {
    if (*types == 't')
      sqlite3_bind_text (statement, i, va_arg (values, const char *), -1, SQLITE_STATIC);
    else if (*types == 'i')
      sqlite3_bind_int64 (statement, i, va_arg (values, gint64));
    else if (*types == 'b')
      bind_bytes (statement, i, va_arg (values, GBytes *));
    else
      sqlite3_bind_double (statement, i, va_arg (values, double));
  }
  return g_steal_pointer (&statement);
}

sqlite3_stmt *
lig_sql_prepare (sqlite3 *db, GError **error, const char *sql, const char *types, ...)
{
  va_list values;
  va_start (values, types);
  sqlite3_stmt *statement = lig_sql_prepare_list (db, error, sql, types, values);
  va_end (values);
  return statement;
}

gboolean
lig_sql_run_list (sqlite3 *db, GError **error, const char *sql, const char *types, va_list values)
{
  g_autoptr (sqlite3_stmt) statement = lig_sql_prepare_list (db, error, sql, types, values);
  if (!statement)
    return FALSE;
  if (sqlite3_step (statement) != SQLITE_DONE)
    return lig_sql_fail (db, _ ("cannot write"), error);
  return TRUE;
}

gboolean
lig_sql_run (sqlite3 *db, GError **error, const char *sql, const char *types, ...)
{
  va_list values;
  va_start (values, types);
  gboolean done = lig_sql_run_list (db, error, sql, types, values);
  va_end (values);
  return done;
}

gboolean
lig_sql_exec (sqlite3 *db, const char *sql, GError **error)
{
  if (sqlite3_exec (db, sql, NULL, NULL, NULL) != SQLITE_OK)
    return lig_sql_fail (db, _ ("cannot read or write"), error);
  return TRUE;
}

gboolean
lig_sql_get (sqlite3 *db, const char *sql, gint64 *value, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = lig_sql_prepare (db, error, sql, "");
  if (!statement)
    return FALSE;
  int code = sqlite3_step (statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return lig_sql_fail (db, _ ("cannot read"), error);
  *value = code == SQLITE_ROW ? sqlite3_column_int64 (statement, 0) : 0;
  return TRUE;
}

gboolean
lig_sql_begin (sqlite3 *db, GError **error)
{
  if (!db) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 _ ("the store is open for reading only; open it for changes"));
    return FALSE;
  }
  sqlite3_busy_timeout (db, BUSY_TIMEOUT_MS);
  for (int i = 0;; i++) {
    int code = sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK)
      return TRUE;
    /* SQLite does not call its busy handler if waiting could be a deadlock, so retry here. */
    if ((code & 0xff) != SQLITE_BUSY || i == BUSY_RETRIES)
      return lig_sql_fail (db, _ ("cannot write"), error);
    g_usleep (20000);
  }
}

gboolean
lig_sql_end (sqlite3 *db, gboolean done, GError **error)
{
  if (done && sqlite3_exec (db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
    done = lig_sql_fail (db, _ ("cannot write"), error);
  /* SQLite rolls back by itself on some failures. */
  if (!done && !sqlite3_get_autocommit (db))
    sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
  return done;
}

gboolean
lig_sql_next (sqlite3_stmt *statement, GError **error)
{
  int code = sqlite3_step (statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    lig_sql_fail (sqlite3_db_handle (statement), _ ("cannot read"), error);
  return code == SQLITE_ROW;
}

double
lig_sql_real (sqlite3_stmt *statement, int column)
{
  if (sqlite3_column_type (statement, column) == SQLITE_NULL)
    return NAN;
  return sqlite3_column_double (statement, column);
}

char *
lig_sql_text (sqlite3_stmt *statement, int column)
{
  const char *text = (const char *) sqlite3_column_text (statement, column);
  return text ? g_utf8_make_valid (text, -1) : NULL;
}

char *
lig_sql_required (sqlite3_stmt *statement, int column)
{
  char *text = lig_sql_text (statement, column);
  return text ? text : g_strdup ("");
}

const char *
lig_sql_string (sqlite3_stmt *statement, int column)
{
  const char *text = (const char *) sqlite3_column_text (statement, column);
  return text ? text : "";
}
