/* SPDX-License-Identifier: MIT */
/* Times, numbers, widths and titles of tables of runs. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Return a local time, with its zone or only to the minute; and a number, or `-` for NaN; (transfer
 * full). */
char *lig_runs_format_started (gint64 when);
char *lig_runs_format_zoned (gint64 when);
char *lig_runs_format_minute (gint64 when);
char *lig_runs_format_number (double value);

/* Returns an empty array of rows for lig_cli_print_table(). */
GPtrArray *lig_runs_new_table (void);

/* Returns the columns for tables on stdout, 0 if it is not a terminal and COLUMNS is not set: a
 * table in a pipe is never cut. */
guint lig_runs_get_width (void);

/* Prints the title of a part after an empty line. */
void lig_runs_print_title (const char *title);

G_END_DECLS
