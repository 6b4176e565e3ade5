/* SPDX-License-Identifier: MIT */
/* The file of the store: its name, its checks, and the replacement of a damaged one. */
#pragma once

#include <ligature/error.h>

#include <sys/stat.h>

G_BEGIN_DECLS

/* The application id of a store, `LIGA`, as schema.sql sets it. */
#define LIG_STORE_APPLICATION 1279870785

/* Returns (transfer full) the absolute name of `path`, or of the default file if it is NULL. */
char *lig_store_file_name (const char *path);

/* Returns (transfer full) `path` as a URI with parameters for SQLite, such as `immutable=1`. */
char *lig_store_file_uri (const char *path, const char *parameters);

/* Returns whether `path` exists and is a store: a regular file that begins like an SQLite database,
 * is not another program's and has no schema newer than `newest`. Changes nothing. */
gboolean lig_store_file_check_existing (const char *path, int newest, GError **error);

/* Creates missing folders and a missing file, only for this user. Rejects an existing file that is
 * neither empty nor a store, and one that cannot be written. */
gboolean lig_store_file_prepare (const char *path, int newest, GError **error);

/* Returns whether the store has a write-ahead log that is not empty. */
gboolean lig_store_file_has_log (const char *path);

/* Return whether the file, and companion files in its folder, can be written. */
gboolean lig_store_file_is_writable (const char *path);
gboolean lig_store_file_check_writable (const char *path, GError **error);

/* Set the error for a newer schema, and for another program's; return FALSE. */
gboolean lig_store_file_fail_newer (const char *path, gint64 version, int newest, GError **error);
gboolean lig_store_file_fail_foreign (const char *path, GError **error);

/* Creates an empty file that only this user may read, unless it exists. */
gboolean lig_store_file_make (const char *path, GError **error);

/* Renames a copy of the store to its final name, unless that exists already. */
gboolean lig_store_file_name_copy (const char *from, const char *to, GError **error);

/* Records the identity of the file. */
gboolean lig_store_file_remember (const char *path, struct stat *file, GError **error);

/* Returns whether `path` is still the file that was `opened`. If it was deleted or replaced, SQLite
 * would continue to write to a file without a name, and the data would be lost. */
gboolean lig_store_file_is_same (const char *path, const struct stat *opened, GError **error);

/* Renames a damaged file and its companions to an unused name. Does nothing if the file is no
 * longer the one that was `seen`, because another process has already renamed it. Sets `warning` to
 * a sentence that describes the damage (`why`) and the new name. */
gboolean lig_store_file_set_aside (
  const char *path, const struct stat *seen, const char *why, char **warning, GError **error);

G_END_DECLS
