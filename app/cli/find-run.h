/* SPDX-License-Identifier: MIT */
/* Finds the run that a word of the command line selects. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/* Returns a run by its uuid or the beginning of one. `last` selects the newest of `kind` (NULL: of
 * any kind) and prints its name to stderr. Returns NULL on error. */
LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error);

G_END_DECLS
