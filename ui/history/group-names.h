/* SPDX-License-Identifier: MIT */
/* The names of groups of runs. */
#pragma once

#include <ligature/store-groups.h>

G_BEGIN_DECLS

/**
 * lig_history_name_groups:
 * @groups: (element-type LigRunGroup): the groups by @by
 *
 * Names each group: by its value; groups of repetitions by the name of the runs and by those of
 * their settings that differ between the groups, `xor · lr 0.001`. Reads a run of each group; for a
 * thread.
 *
 * Returns: (transfer full): a name for each group, or %NULL with an error
 */
GStrv lig_history_name_groups (LigStore *store, GPtrArray *groups, const char *by, GError **error);

G_END_DECLS
