/* SPDX-License-Identifier: MIT */
/* The live line: the last line of the terminal, which is updated during long work. The functions
 * may be called from any thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Returns whether stderr is a terminal whose last line can be replaced: not with TERM=dumb, with CI
 * set, or with --quiet. */
gboolean lig_cli_live (void);

/* Returns whether progress is printed to stderr as lines: if it is not live, except with --quiet.
 */
gboolean lig_cli_logged (void);

/* Shows no progress on the terminal from now on, because other lines go there; a log file still
 * gets progress. */
void lig_cli_live_forbid (void);

/* Treats the process group as this program's own: if it is in the foreground of the terminal, so is
 * this program. */
void lig_cli_live_share (pid_t group);

/* Returns the columns for the line. Each call asks the terminal, which may have been resized. */
int lig_cli_live_columns (void);

/* Replaces the current line by the text, shortened to the current width. A program in the
 * background shows nothing. A signal that ends or stops the program removes the line first. */
void lig_cli_live_show (const char *text);

/* Removes the line. Called before anything else is printed. */
void lig_cli_live_clear (void);

G_END_DECLS
