/* SPDX-License-Identifier: MIT */
/* What stands at one place of the list of runs. */
#pragma once

#include <ligature/store.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_ITEM (lig_run_item_get_type ())
G_DECLARE_FINAL_TYPE (LigRunItem, lig_run_item, LIG, RUN_ITEM, GObject)

/* Only the list writes here. `asked`: the row is being read. */
struct _LigRunItem {
  GObject parent_instance;
  gint64 key;
  guint position;
  LigRunRow *row;
  gboolean asked;
};

/* Signal `changed`: the row was read, or another run stands here now, as after sorting. */
gint64 lig_run_item_get_key (LigRunItem *self);

/* (nullable): null until it was read. Valid until `changed`. */
const LigRunRow *lig_run_item_get_row (LigRunItem *self);

/* For the list: @row is taken over. */
void lig_run_item_set (LigRunItem *self, gint64 key, LigRunRow *row);
void lig_run_item_tell (LigRunItem *self);

G_END_DECLS
