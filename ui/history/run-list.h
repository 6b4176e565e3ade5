/* SPDX-License-Identifier: MIT */
/* The runs of a store as a list model of any length: it holds a key for each run, and rows are read
 * on a thread when somebody looks at them. */
#pragma once

#include "ui/history/run-item.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_LIST (lig_run_list_get_type ())
G_DECLARE_FINAL_TYPE (LigRunList, lig_run_list, LIG, RUN_LIST, GObject)

/**
 * lig_run_list_new:
 *
 * An empty GListModel of LigRunItem. Signals, without arguments: `reloading` before the runs are
 * others or in another order, `reloaded` after it; the latter also where only rows changed, or
 * where reading failed.
 */
LigRunList *lig_run_list_new (void);

/* @store: (nullable): null for an empty list. */
void lig_run_list_set_store (LigRunList *self, LigStore *store);

/* Copies the filter and asks the store again. */
void lig_run_list_set_filter (LigRunList *self, const LigRunFilter *filter);
gboolean lig_run_list_is_filtered (LigRunList *self);
void lig_run_list_set_order (LigRunList *self, LigRunOrder order, gboolean descending);

/* Asks the store again if anything in it changed; cheap, does nothing while it is being asked. */
void lig_run_list_poll (LigRunList *self);

/* Asks the store again. */
void lig_run_list_reload (LigRunList *self);

/* Whether the store has answered at least once since it was set. */
gboolean lig_run_list_is_loaded (LigRunList *self);

/* (nullable): why the last question was not answered. */
const char *lig_run_list_get_error (LigRunList *self);

/* Runs of the store that fit, hidden ones not counted, and in all. */
guint lig_run_list_get_count (LigRunList *self);
guint lig_run_list_get_total (LigRunList *self);

/* What there is to choose from: `status`, `device`, `kind` or `tag`. (transfer none) */
const char *const *lig_run_list_get_values (LigRunList *self, const char *column);

/* Runs that are about to be deleted are not in the list. */
void lig_run_list_hide (LigRunList *self, const gint64 *keys, guint count, gboolean hidden);

gint64 lig_run_list_get_key (LigRunList *self, guint position);

G_END_DECLS
