/* SPDX-License-Identifier: MIT */
/* Opens untrusted files, replaces files, and formats numbers and excerpts for messages. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Opens a regular file for reading, stores its size in `size` and returns its descriptor, or -1 on
 * failure. Rejects a folder, a pipe or a device with LIG_ERROR_FILE, since opening a pipe would
 * block. */
int lig_open_file (const char *path, gsize *size, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads `size` bytes at `offset`. A file that was truncated is an error here; with mmap it would
 * crash the program. */
gboolean
lig_read_at (int fd, const char *path, gsize offset, gpointer buffer, gsize size, GError **error);

/* Reads a whole regular file; rejects one that changes during the read. */
GBytes *lig_read_file (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Replaces a regular file atomically, or the one that a link points to; a device or a pipe is
 * written to instead. The error is LIG_ERROR_FILE and names the path. */
gboolean lig_write_file (const char *path, gconstpointer data, gsize size, GError **error);

/* Returns a non-cryptographic hash of `bytes`, to compare contents. `hash` is 0 for the first
 * piece, then the result for the previous piece. */
guint64 lig_hash_content (guint64 hash, gconstpointer bytes, gsize size);

/* Formats a number for people: `12,345,678` (transfer full). */
char *lig_format_count (gint64 count);

/* Returns the start of a text from a file for use in a message: valid UTF-8 of at most
 * `characters`, then an ellipsis if more follows (transfer full). */
char *lig_format_excerpt (const char *text, glong characters);

G_END_DECLS
