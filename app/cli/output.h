/* SPDX-License-Identifier: MIT */
/* The streams that `lig` writes to, from before the first command to after the last. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Puts something behind each of the three standard streams that is closed, so that no database gets
 * its number: reading finds the end, writing fails. */
void lig_cli_settle_streams (void);

/* Has the program fail when it ends, however it ends, if standard output did not take all that was
 * printed. */
void lig_cli_watch_output (void);

/* The exit code of a program that ends with `code`; to be called last. */
int lig_cli_end (int code);

/* Whether `count` more files can be opened; GLib ends a process that has none left. */
gboolean lig_cli_need_files (int count, GError **error);

G_END_DECLS
