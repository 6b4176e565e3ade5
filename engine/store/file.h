/* SPDX-License-Identifier: MIT */
/* The file of the store, seen from outside: where it is, and what is done with a bad one. */
#pragma once

#include "engine/error.h"

#include <sys/stat.h>

G_BEGIN_DECLS

/* The absolute name of `path`, or of the default file. */
char *lig_store_file_name (const char *path);

/* Makes the folders, and refuses a file that cannot be written or whose schema is newer than
 * `newest`, without touching it. */
gboolean lig_store_file_check (const char *path, int newest, GError **error);

/* Sets the error for a newer schema; returns FALSE. */
gboolean lig_store_file_is_newer (const char *path, gint64 version, int newest, GError **error);

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
