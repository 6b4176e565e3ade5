/* SPDX-License-Identifier: MIT */
/* The runs of a store as a list model of any length: it holds a key for each run, and a thread
 * reads rows when they are shown. */
#pragma once

#include "ui/history/run-item.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

#define LIG_TYPE_RUN_LIST (lig_run_list_get_type ())
G_DECLARE_FINAL_TYPE (LigRunList, lig_run_list, LIG, RUN_LIST, GObject)

/**
 * lig_run_list_new:
 *
 * Returns an empty GListModel of LigRunItem. Signals, without arguments: `reloading` before the
 * runs or their order change, `reloaded` after it; the latter also if only rows changed, or if
 * reading failed.
 */
LigRunList *lig_run_list_new (void);

/* Sets the store. @store: (nullable): null for an empty list. */
void lig_run_list_set_store (LigRunList *self, LigStore *store);

/* Copies the filter and queries the store again. */
void lig_run_list_set_filter (LigRunList *self, const LigRunFilter *filter);
const LigRunFilter *lig_run_list_get_filter (LigRunList *self);
gboolean lig_run_list_is_filtered (LigRunList *self);
/* Sorts. @setting: (nullable): of LIG_RUN_BY_SETTING */
void lig_run_list_set_order (LigRunList *self,
                             LigRunOrder order,
                             const char *setting,
                             gboolean descending);

/* Queries the store again if it changed; cheap, and does nothing during a query. */
void lig_run_list_poll (LigRunList *self);

/* Queries the store again. */
void lig_run_list_reload (LigRunList *self);

/* Returns whether the store has answered since it was set. */
gboolean lig_run_list_is_loaded (LigRunList *self);

/* Returns: (nullable): the error of the last query. */
const char *lig_run_list_get_error (LigRunList *self);

/* Return the number of runs that match the filter, folded or not, without hidden ones; of all runs;
 * and of those in the trash. */
guint lig_run_list_get_count (LigRunList *self);
guint lig_run_list_get_total (LigRunList *self);
guint lig_run_list_get_trashed (LigRunList *self);

/* Returns: (transfer none): the values of a column to choose from: `status`, `device`, `kind` or
 *   `tag`. */
const char *const *lig_run_list_get_values (LigRunList *self, const char *column);

/* Returns: (transfer none): the names of the columns of settings whose values differ among the
 * first runs of the list, in the order of the columns. */
const char *const *lig_run_list_get_varying (LigRunList *self);

/* Hides runs until the store has deleted them, or shows them again. */
void lig_run_list_hide (LigRunList *self, const gint64 *keys, guint count, gboolean hidden);

/* Returns the row at a position as LigRunFolds describes: the key of a run or a negative number. */
gint64 lig_run_list_get_key (LigRunList *self, guint position);

/* Appends the keys of the runs of a row: one, or all of a fold. */
void lig_run_list_append_keys (LigRunList *self, guint position, GArray *to);

/* Folds the runs of each sweep and repetitions to one row, except in the trash, in a group that the
 * user has opened, and among more than 10,000 runs. */
void lig_run_list_set_folding (LigRunList *self, gboolean folding);

/* Opens or closes the fold at a position. Returns FALSE if there is none, or nothing changes. */
gboolean lig_run_list_open (LigRunList *self, guint position, gboolean open);

G_END_DECLS
