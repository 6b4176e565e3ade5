/* SPDX-License-Identifier: MIT */
/* What the parts of the store share: the object, and how it is read and written. */
#pragma once

#include "engine/store/sql.h"
#include "engine/store/writer.h"
#include <ligature/store.h>

#include <sys/stat.h>

G_BEGIN_DECLS

/* One connection writes, for the thread and for the calls that write at once; one reads, so that
 * views never wait for the disk. */
struct _LigStore {
  GObject parent_instance;
  char *path;
  char *warning;
  struct stat file; /* as it was opened */
  GMutex write_lock;
  sqlite3 *db;
  GMutex read_lock;
  sqlite3 *reader;
  LigWriter *writer;
};

/* Runs one writing statement in a transaction of its own. Returns the number of rows that it
 * changed, -1 with an error set. Types as in lig_sql_prepare(). */
int lig_store_write (LigStore *self, GError **error, const char *sql, const char *types, ...);

/* A reading statement on the reading connection, which stays locked until lig_store_end_read(),
 * to be called in any case. */
sqlite3_stmt *
lig_store_begin_read (LigStore *self, GError **error, const char *sql, const char *types, ...);
void lig_store_end_read (LigStore *self, sqlite3_stmt *statement);

G_END_DECLS
