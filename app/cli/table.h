/* SPDX-License-Identifier: MIT */
/* Tables and sentences that fit the width of the output. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the columns for text on standard output, between LIG_CLI_NARROWEST and LIG_CLI_WIDEST. */
int lig_cli_text_width (void);

/* Prints a sentence, wrapped; lines after the first are indented. */
void lig_cli_print_wrapped (const char *text, int width);

/* Prints lines, each wrapped with its further lines indented by two more. */
void lig_cli_print_lines (const char *text, int width);

/* Prints a table whose lines take at most `width` columns. `rows` contains string vectors as long
 * as `header`; the function may replace their strings. A header that begins with '>' is
 * right-aligned. The last column may begin with '~': if it does not fit, its cells wrap. If the
 * others are too wide, the middle of the widest texts is cut out, first of those with '<'. */
void lig_cli_print_fitted (const char *const *header, GPtrArray *rows, int width);

/* Prints a table in aligned columns to stdout. `rows` contains string vectors as long as `header`;
 * the function may replace their strings. A header that begins with '>' is right-aligned. */
void lig_cli_print_table (const char *const *header, GPtrArray *rows);

G_END_DECLS
