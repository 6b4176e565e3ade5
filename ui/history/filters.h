/* SPDX-License-Identifier: MIT */
/* The bar above the history: search, filters, and the number of runs. */
#pragma once

#include "ui/history/run-list.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_HISTORY_FILTERS (lig_history_filters_get_type ())
G_DECLARE_FINAL_TYPE (LigHistoryFilters, lig_history_filters, LIG, HISTORY_FILTERS, AdwBin)

/* Sets the filter of the list, and offers the list's values to choose from. */
void lig_history_filters_set_list (LigHistoryFilters *self, LigRunList *list);

void lig_history_filters_set_columns_menu (LigHistoryFilters *self, GMenuModel *menu);
void lig_history_filters_focus_search (LigHistoryFilters *self);
void lig_history_filters_clear (LigHistoryFilters *self);

/* Returns: (nullable): the setting that runs are grouped by, as lig_store_group_runs() takes it;
 *   null while the runs themselves are shown. Signal `grouped`, without arguments: it changed. */
const char *lig_history_filters_get_group (LigHistoryFilters *self);

/* Lists the runs of a group instead of the groups. @value: (nullable): as in LigRunGroup */
void lig_history_filters_open_group (LigHistoryFilters *self, const char *value);

G_END_DECLS
