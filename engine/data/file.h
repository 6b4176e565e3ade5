/* SPDX-License-Identifier: MIT */
/* Opening files that are not trusted, and saying numbers in messages. */
#pragma once

#include "engine/error.h"

G_BEGIN_DECLS

/* Maps a regular file for reading; its content may be empty. A folder, a pipe or a device is
 * refused with LIG_ERROR_FILE, since opening a pipe would wait and mapping one cannot work. */
GMappedFile *lig_map_file (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* `12,345,678`, for people (transfer full). */
char *lig_format_count (gint64 count);

/* A piece of a file as a message may show it: valid UTF-8 of at most `characters`
 * (transfer full). */
char *lig_format_excerpt (const char *text, glong characters);

G_END_DECLS
