/* SPDX-License-Identifier: MIT */
/* Runs as users name them. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * lig_store_select_run:
 * @self: a store
 * @selector: `last`, the newest run; a name, the newest run of that name; a uuid, or the beginning
 *   of one, at least 4 characters, which only one run has. `~N` after each of them selects the Nth
 *   run before it: of all runs, or of those with the name. A name takes precedence over the
 *   beginning of a uuid.
 * @kind: (nullable): `train` or `profile`, to which `last` and names are limited; %NULL for any
 * @alike: (out) (optional): the number of runs with the selector's name, 0 if it is no name
 *
 * Finds the run that a user's word selects. The error of an ambiguous selector lists the runs.
 *
 * Returns: (transfer full): the run, or %NULL with %LIG_ERROR_STORE set
 */
LIG_API LigRunRow *lig_store_select_run (
  LigStore *self, const char *selector, const char *kind, guint *alike, GError **error);

G_END_DECLS
