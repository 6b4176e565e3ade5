/* SPDX-License-Identifier: MIT */
/* Finds the run that a word of the command line selects. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* Returns the run that a word selects as in lig_store_select_run(). `last` and names are limited to
 * the kind (NULL: any). Prints to stderr which run it is unless the word is the beginning of its
 * uuid or the name of no other run. Returns NULL on error. */
LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error);

G_END_DECLS
