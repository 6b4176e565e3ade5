/* SPDX-License-Identifier: MIT */
/* The names of groups of runs. */
#pragma once

#include <ligature/store-groups.h>

G_BEGIN_DECLS

/**
 * lig_history_name_groups:
 * @groups: (element-type LigRunGroup): the groups by @by
 *
 * Names each group by its value; groups of repetitions by the name of the runs and the settings
 * that differ between the groups, `xor · lr 0.001`. Reads one run of each group; to be called on a
 * thread.
 *
 * Returns: (transfer full): a name for each group, or %NULL with an error
 */
GStrv lig_history_name_groups (LigStore *store, GPtrArray *groups, const char *by, GError **error);

G_END_DECLS
