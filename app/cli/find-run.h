/* SPDX-License-Identifier: MIT */
/* Finds the run that a command-line word selects. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/* Returns the run that a word selects as in lig_store_select_run(). `last` and names are limited to
 * the kind (NULL: any). Prints to stderr which run it is, unless the word is the beginning of its
 * uuid or a name that only it has. Returns NULL on error. */
LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error);

/* Returns whether a word is the path of a file, or of a folder with weights. Another folder may
 * have the name of a run, which is then meant. */
gboolean lig_cli_is_path (const char *text);

/* Returns whether a word is meant as a run of the store at a path, not as a sequence. A uuid or the
 * beginning of one is never an expression, unless an op has exactly that name. Any other word is a
 * run if the store has one of that name; its name may also be an expression, which is then meant as
 * one. */
gboolean lig_cli_is_run (const char *text, const char *store);

/* If the text could be a name, replaces the error about the unknown op by one that also mentions
 * runs and files. Returns FALSE. */
gboolean lig_cli_blame_name (GError **error, const char *text);

G_END_DECLS
