/* SPDX-License-Identifier: MIT */
/* Breaks text into the lines of a terminal. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends the words of a text that begins at `column` and continues on lines indented by `indent`.
 * Lines have at most `width` columns unless a single word is longer. */
void lig_cli_append_wrapped (GString *to, const char *text, int column, int indent, int width);

/* Appends the lines of a preformatted text. The rest of an overlong line is indented like its
 * second column, if two spaces separate that from a narrow first one, else like its beginning. */
void lig_cli_append_lines (GString *to, const char *text, int width);

/* Appends a command line, indented by `indent`, that can be pasted: lines end with a backslash, or
 * within quotes between two ops. */
void lig_cli_append_shell (GString *to, const char *line, int indent, int width);

G_END_DECLS
