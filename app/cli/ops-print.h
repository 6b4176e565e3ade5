/* SPDX-License-Identifier: MIT */
/* The entries and lines of `lig ops`. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The columns before the summary of a fusion. */
#define LIG_OPS_COLUMN 34

/* Prints the name, and the summary wrapped from the column on; below the name in a narrow
 * terminal. */
void lig_ops_print_entry (const char *name, int column, const char *sentence);

/* Prints `NAME: SUMMARY`, wrapped, and an empty line. */
void lig_ops_print_title (const char *name, const char *summary);

/* Prints the name in a column and the text after it, wrapped; nothing if the text is empty or NULL.
 * Takes the text. */
void lig_ops_print_line (const char *name, char *text);

/* Adds the names in a comma-separated list as an array. Takes the list. */
void lig_ops_add_names (JsonBuilder *to, const char *name, char *list);

G_END_DECLS
