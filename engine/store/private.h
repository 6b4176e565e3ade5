/* SPDX-License-Identifier: MIT */
/* The internals of the store: the object, and functions to read and write it. */
#pragma once

#include "engine/store/sql.h"
#include "engine/store/writer.h"
#include <ligature/store.h>

#include <sys/stat.h>

G_BEGIN_DECLS

/* One connection writes, for the writer thread and for the functions that write immediately;
 * another one reads, so that views never wait for the disk. */
struct _LigStore {
  GObject parent_instance;
  char *path;
  char *warning;
  struct stat file; /* the identity of the opened file */
  GMutex write_lock;
  sqlite3 *db;
  GMutex read_lock;
  sqlite3 *reader;
  LigWriter *writer;
};

/* Runs one writing statement in a separate transaction. Returns the number of rows that it changed,
 * -1 with an error set. `types` is the same as in lig_sql_prepare(). */
int lig_store_write (LigStore *self, GError **error, const char *sql, const char *types, ...);

/* Prepares a statement on the reading connection, which stays locked until lig_store_end_read().
 * The caller must call that even if NULL is returned. */
sqlite3_stmt *
lig_store_begin_read (LigStore *self, GError **error, const char *sql, const char *types, ...);
void lig_store_end_read (LigStore *self, sqlite3_stmt *statement);

/* Finds the number of the run with a uuid. The caller holds the write lock. */
gboolean lig_store_find_number (LigStore *self, const char *run, gint64 *number, GError **error);

G_END_DECLS
