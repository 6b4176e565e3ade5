/* SPDX-License-Identifier: MIT */
/* The connection that reads, so that views never wait for the disk. */
#include "engine/store/file.h"
#include "engine/store/private.h"

#include <glib/gi18n-lib.h>

/* Returns the reading connection, which is opened at the first call; call it with read_lock held.
 */
static sqlite3 *
get_reader (LigStore *self, GError **error)
{
  if (!lig_store_file_is_same (self->path, &self->file, error))
    return NULL;
  if (self->reader)
    return self->reader;
  g_autoptr (sqlite3) db = NULL;
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2 (self->path, &db, flags, NULL) != SQLITE_OK) {
    lig_sql_fail (db, _ ("cannot open"), error);
    return NULL;
  }
  sqlite3_busy_timeout (db, 5000);
  self->reader = g_steal_pointer (&db);
  return self->reader;
}

sqlite3_stmt *
lig_store_begin_read (LigStore *self, GError **error, const char *sql, const char *types, ...)
{
  va_list values;
  sqlite3_stmt *statement = NULL;
  g_mutex_lock (&self->read_lock);
  sqlite3 *db = get_reader (self, error);
  if (db) {
    va_start (values, types);
    statement = lig_sql_prepare_list (db, error, sql, types, values);
    va_end (values);
  }
  return statement;
}

void
lig_store_end_read (LigStore *self, sqlite3_stmt *statement)
{
  sqlite3_finalize (statement);
  g_mutex_unlock (&self->read_lock);
}
