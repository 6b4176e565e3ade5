/* SPDX-License-Identifier: MIT */
/* The file of the store, seen from outside: where it is, and what is done with a bad one. */
#pragma once

#include <ligature/error.h>

#include <sys/stat.h>

G_BEGIN_DECLS

/* The application id of a store, `LIGA`, as schema.sql sets it. */
#define LIG_STORE_APPLICATION 1279870785

/* The absolute name of `path`, or of the default file. */
char *lig_store_file_name (const char *path);

/* `path` as SQLite takes it with parameters, `immutable=1`. */
char *lig_store_file_uri (const char *path, const char *parameters);

/* Refuses what is not there and what is no store: no regular file, not begun as SQLite begins one,
 * another program's, or of a schema newer than `newest`. Nothing is made or touched. */
gboolean lig_store_file_check_existing (const char *path, int newest, GError **error);

/* Makes the folders and an empty file where there is none, for this person alone; refuses what is
 * there as above, and what cannot be written. */
gboolean lig_store_file_prepare (const char *path, int newest, GError **error);

/* Whether something waits in a log beside it to be brought into the file. */
gboolean lig_store_file_has_log (const char *path);

/* Whether the file, and files beside it, can be written. */
gboolean lig_store_file_is_writable (const char *path);
gboolean lig_store_file_check_writable (const char *path, GError **error);

/* Set the error for a newer schema, and for another program's; return FALSE. */
gboolean lig_store_file_is_newer (const char *path, gint64 version, int newest, GError **error);
gboolean lig_store_file_is_foreign (const char *path, GError **error);

/* Which file it is. */
gboolean lig_store_file_remember (const char *path, struct stat *file, GError **error);

/* Refuses where `path` no longer is the file that was `opened`: SQLite would go on with one that
 * has no name, and all of it would be lost in the end. */
gboolean lig_store_file_is_there (const char *path, const struct stat *opened, GError **error);

/* Renames a damaged file, and what SQLite keeps beside it, to a name that nothing has. Does
 * nothing if the file is no longer the one that was `seen`: another process did it already.
 * `warning` is set to a sentence that says what happened and `why`. */
gboolean lig_store_file_set_aside (
  const char *path, const struct stat *seen, const char *why, char **warning, GError **error);

G_END_DECLS
