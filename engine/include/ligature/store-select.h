/* SPDX-License-Identifier: MIT */
/* Selecting runs by the names that users give. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

/**
 * lig_store_select_run:
 * @self: a store
 * @selector: `last`, the newest run; a name, the newest run of that name; a uuid, or an unambiguous
 *   beginning of one with at least 4 characters. The suffix `~N` selects the Nth run before that
 *   one: of all runs, or of those with the name. A name takes precedence over the beginning of a
 *   uuid.
 * @kind: (nullable): `train` or `profile`, to which `last` and names are limited; %NULL for any
 * @alike: (out) (optional): the number of runs with the selector's name, 0 if it is not a name
 *
 * Finds the run that a selector from the user means. The error of an ambiguous selector lists the
 * runs.
 *
 * Returns: (transfer full): the run, or %NULL with %LIG_ERROR_STORE set
 */
LIG_API LigRunRow *lig_store_select_run (
  LigStore *self, const char *selector, const char *kind, guint *alike, GError **error);

G_END_DECLS
