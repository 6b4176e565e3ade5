/* SPDX-License-Identifier: MIT */
/* `lig ops`: the fusions of an op, a fusion, and the search in names and summaries. */
#pragma once

#include "app/cli/command.h"
#include <ligature/plan.h>

/* Splits an op's example into an expression and an input; (transfer full), NULL if the op has no
 * example. */
GStrv lig_ops_split_example (const LigOpInfo *info);

/* Returns a training plan of the op's example without fusions; NULL if the op has no example. */
LigPlan *lig_ops_plan_example (const LigOpInfo *info);

/* Adds the names of a list, which are separated by a comma and a space, as an array. Takes the
 * list.
 */
void lig_ops_add_names (JsonBuilder *to, const char *name, char *list);

/* Adds an op as an object. */
void lig_ops_add (JsonBuilder *to, const LigOpInfo *info);

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

/* Prints the fusions in which the op takes part, by pass. */
void lig_ops_print_fusions (const LigOpInfo *info);

/* Adds a fusion as an object: its name, pass, summary and pattern. */
void lig_ops_add_fusion (JsonBuilder *to, const LigFusion *fusion);

/* Adds the fusions of the op as the array `fusions`. */
void lig_ops_add_fusions (JsonBuilder *to, const LigOpInfo *info);

/* Prints a fusion: its pattern, its ops, and its kernels beside those of the ops alone. */
void lig_ops_show_fusion (const LigFusion *fusion);

/* Prints the ops and fusions whose name or summary contains all words. Returns an exit code. */
int lig_ops_search (char **words);
