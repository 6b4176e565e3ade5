/* SPDX-License-Identifier: MIT */
/* Finds the files that a dataset consists of. */
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

/* Rejects a file that is trained on and held out, too. */
gboolean lig_data_check_apart (const char *path, const char *validation, GError **error);

/* Reads a file as a whole, lig_read_file(), and unpacks it if it is packed by gzip. Rejects what
 * begins as an archive, as text of 16 bits, or as another format that no dataset reads. */
GBytes *lig_data_read (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Returns (nullable) what a file is that begins with these bytes, if no dataset reads it as it is.
 */
const char *lig_data_name_foreign (gconstpointer bytes, gsize size);

G_END_DECLS
