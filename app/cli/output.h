/* SPDX-License-Identifier: MIT */
/* The standard streams of `lig`. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Opens /dev/null for each closed standard stream, so that no database gets its file descriptor.
 * Reading returns the end of the file, writing to standard output fails. */
void lig_cli_open_missing_streams (void);

/* Makes the program fail at exit if standard output did not accept everything printed. */
void lig_cli_watch_output (void);

/* Makes Ctrl+C print {"error":…} to standard output before the program ends with
 * LIG_EXIT_INTERRUPTED. Training handles Ctrl+C itself. */
void lig_cli_watch_interrupt (void);

/* Records the exit code of the program and returns it. Main calls it last. */
int lig_cli_end (int code);

/* Checks that `count` more files can be opened, because GLib aborts a process that runs out of
 * descriptors. Returns FALSE with an error set. */
gboolean lig_cli_need_files (int count, GError **error);

G_END_DECLS
