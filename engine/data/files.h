/* SPDX-License-Identifier: MIT */
/* Finds the files of a dataset. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns (transfer full) the paths of a file, of all regular files below a folder whose names end
 * with `suffix` (null: all), or of those that match a pattern with *, ? or [], sorted by their
 * bytes. An existing file is never taken as a pattern. Links to files are followed, links to
 * folders are not. A path that names nothing is returned, so that opening it fails; a pattern that
 * nothing matches is LIG_ERROR_FILE. */
GPtrArray *lig_data_list_files (const char *path, const char *suffix, GError **error);

/* The same without patterns. */
GPtrArray *lig_data_list_folder (const char *path, const char *suffix, GError **error);

/* Removes the files that are also in the other list, whatever their paths are. Fails if none of
 * `path` is left. */
gboolean lig_data_leave_out (GPtrArray *files, GPtrArray *others, const char *path, GError **error);

/* Rejects a file that is used for both training and validation. */
gboolean lig_data_check_apart (const char *path, const char *validation, GError **error);

/* Reads a whole file with lig_read_file(), and decompresses it if it is a gzip file. Rejects a file
 * that begins like an archive, like UTF-16 text, or like another format that no dataset reads. */
GBytes *lig_data_read (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns (nullable) the format of a file that begins with these bytes, if no dataset reads that
 * format. */
const char *lig_data_name_foreign (gconstpointer bytes, gsize size);

G_END_DECLS
