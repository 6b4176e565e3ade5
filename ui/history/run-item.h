/* SPDX-License-Identifier: MIT */
/* An item of the list of runs. */
#pragma once

#include "ui/history/run-folds.h"
#include <ligature/store-rows.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_ITEM (lig_run_item_get_type ())
G_DECLARE_FINAL_TYPE (LigRunItem, lig_run_item, LIG, RUN_ITEM, GObject)

/* Written by the list only. `key`: of a run, or of a fold as LigRunFolds describes. `asked`: the
 * row is being read. `open`: the runs of the fold follow it. `inner`: a run that follows its fold.
 */
struct _LigRunItem {
  GObject parent_instance;
  gint64 key;
  guint position;
  LigRunRow *row;
  LigRunFolds *folds; /* (nullable): owner of the fold */
  gboolean asked, open, inner;
};

/* Signal `changed`: the row was read, or the item now has another run, for example after
 * sorting. */
gint64 lig_run_item_get_key (LigRunItem *self);

/* Returns: (nullable): the fold of which the item is the row, null for a run. */
const LigRunFold *lig_run_item_get_fold (LigRunItem *self);

/* Sets the folds among which the item may be; only for the list. @folds: (nullable) */
void lig_run_item_set_folds (LigRunItem *self, LigRunFolds *folds, GHashTable *open);

/* Returns: (nullable): the row, null until it was read; of a fold, the newest run with the best
 * settings. Valid until `changed`. */
const LigRunRow *lig_run_item_get_row (LigRunItem *self);

/* Sets the row; only for the list. @row: (transfer full) */
void lig_run_item_set (LigRunItem *self, gint64 key, LigRunRow *row);
void lig_run_item_tell (LigRunItem *self);

G_END_DECLS
