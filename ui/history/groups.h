/* SPDX-License-Identifier: MIT */
/* Groups of runs as a table: one line for each value of a setting, with the mean and the spread of
 * the results. */
#pragma once

#include <adwaita.h>
#include <ligature/store-groups.h>

G_BEGIN_DECLS

#define LIG_TYPE_HISTORY_GROUPS (lig_history_groups_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryGroups, lig_history_groups, LIG, HISTORY_GROUPS, AdwBin)

/* Reads the groups of the runs that meet the filter on a thread, and shows them. Signal `opened`
 * with the value of a group, null for none: show its runs. Signal `loaded` once the groups are
 * shown. */
void lig_history_groups_show (LigHistoryGroups *self,
                              LigStore *store,
                              const LigRunFilter *filter,
                              const char *by);

/* Returns: (transfer full): the table as CSV, with the mean, the std and the count of each result
 * in separate columns. */
char *lig_history_groups_to_csv (LigHistoryGroups *self);

/* Returns: (transfer none) (nullable): a fact that runs can be grouped by, as
 * lig_store_group_runs() takes it; null after the last. */
const char *lig_history_grouping_nth (guint n);

/* Returns: (transfer full): its translated name within a sentence: `learning rate`. */
char *lig_history_grouping_title (const char *by);

G_END_DECLS
