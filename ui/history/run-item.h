/* SPDX-License-Identifier: MIT */
/* An item of the list of runs. */
#pragma once

#include <ligature/store-rows.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_ITEM (lig_run_item_get_type ())
G_DECLARE_FINAL_TYPE (LigRunItem, lig_run_item, LIG, RUN_ITEM, GObject)

/* Written by the list only. `asked`: the row is being read. */
struct _LigRunItem {
  GObject parent_instance;
  gint64 key;
  guint position;
  LigRunRow *row;
  gboolean asked;
};

/* Signal `changed`: the row was read, or the item now has another run, for example after
 * sorting. */
gint64 lig_run_item_get_key (LigRunItem *self);

/* Returns: (nullable): the row, null until it was read. Valid until `changed`. */
const LigRunRow *lig_run_item_get_row (LigRunItem *self);

/* Sets the row; only for the list. @row: (transfer full) */
void lig_run_item_set (LigRunItem *self, gint64 key, LigRunRow *row);
void lig_run_item_tell (LigRunItem *self);

G_END_DECLS
