/* SPDX-License-Identifier: MIT */
/* Opening files that are not trusted, replacing files, and numbers in messages. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Opens a regular file for reading and says its size. A folder, a pipe or a device is refused with
 * LIG_ERROR_FILE, since opening a pipe would wait. */
int lig_open_file (const char *path, gsize *size, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads `size` bytes at `offset`. A file that has become shorter is an error; a mapping would end
 * the program there. */
gboolean
lig_read_at (int fd, const char *path, gsize offset, gpointer buffer, gsize size, GError **error);

/* Reads a whole regular file; what changes while it is read is refused. */
GBytes *lig_read_file (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Replaces a regular file as a whole, or the one that a link points to; a device or a pipe is
 * written to and stays. The error is LIG_ERROR_FILE and names the path. */
gboolean lig_write_file (const char *path, gconstpointer data, gsize size, GError **error);

/* A hash that tells contents apart; not for protection. Begins with 0 and takes piece after piece.
 */
guint64 lig_hash_content (guint64 hash, gconstpointer bytes, gsize size);

/* `12,345,678`, for people (transfer full). */
char *lig_format_count (gint64 count);

/* A piece of a file as a message may show it: valid UTF-8 of at most `characters`
 * (transfer full). */
char *lig_format_excerpt (const char *text, glong characters);

G_END_DECLS
