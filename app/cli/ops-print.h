/* SPDX-License-Identifier: MIT */
/* The entries and lines of `lig ops`. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The columns in front of the sentence about a fusion. */
#define LIG_OPS_COLUMN 34

/* Prints the name and the sentence beside it from the column on, wrapped; below it in a narrow
 * terminal. */
void lig_ops_print_entry (const char *name, int column, const char *sentence);

/* Prints `NAME: SUMMARY`, wrapped, and an empty line. */
void lig_ops_print_title (const char *name, const char *summary);

/* Prints the text, wrapped, behind the name in a column; nothing if it is empty or NULL. Takes the
 * text. */
void lig_ops_print_line (const char *name, char *text);

/* Adds the names of a list, which are separated by a comma and a space, as an array. Takes the
 * list. */
void lig_ops_add_names (JsonBuilder *to, const char *name, char *list);

G_END_DECLS
