/* SPDX-License-Identifier: MIT */
/* The live line: the last line of the terminal, replaced again and again while work is done. The
 * functions may be called from any thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Returns whether stderr is a terminal that can replace its last line. It is not under TERM=dumb,
 * nor where CI is set, nor with --quiet. */
gboolean lig_cli_live (void);

/* Returns whether progress is printed to stderr in lines: where it is not live, except with
 * --quiet.
 */
gboolean lig_cli_logged (void);

/* Shows no progress on the terminal from now on, as it gets other lines; a log file still does. */
void lig_cli_live_forbid (void);

/* Treats the process group as this program's own: one of its processes is in the foreground of the
 * terminal for it. */
void lig_cli_live_share (pid_t group);

/* Returns the columns for the line. Each call asks the terminal, which may have been resized. */
int lig_cli_live_columns (void);

/* Shows the text instead of the present line, shortened to the present width. A program in the
 * background shows nothing. A signal that ends or stops the program removes the line first. */
void lig_cli_live_show (const char *text);

/* Removes the line. Everything that prints calls this first. */
void lig_cli_live_clear (void);

G_END_DECLS
