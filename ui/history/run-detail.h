/* SPDX-License-Identifier: MIT */
/* All stored data of one run, next to the list; tags and notes can be edited here. */
#pragma once

#include "ui/history/repeat-row.h"
#include "ui/history/run-list.h"
#include "ui/widgets/run-menu.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_DETAIL (lig_run_detail_get_type ())
G_DECLARE_FINAL_TYPE (LigRunDetail, lig_run_detail, LIG, RUN_DETAIL, AdwBin)

/**
 * lig_run_detail_show:
 * @item: (nullable)
 *
 * Shows a run and follows its changes. Unsaved text is saved first.
 *
 * Signals: `note` with a key and a text, `tag` and `untag` with a key and a tag, when the user
 * changed them. `loaded` once the run's checkpoint and curves are known.
 */
void lig_run_detail_show (LigRunDetail *self, LigStore *store, LigRunItem *item);

/* Saves typed text at once. */
void lig_run_detail_save (LigRunDetail *self);

/* Returns: (nullable): an existing checkpoint that the run can continue from. */
const char *lig_run_detail_get_checkpoint (LigRunDetail *self);

void lig_run_detail_edit_notes (LigRunDetail *self);
void lig_run_detail_edit_tags (LigRunDetail *self);

/* Returns: (transfer none): the menu of other runs. */
LigRunMenu *lig_run_detail_get_run_menu (LigRunDetail *self);

/* Returns: (transfer none): the row that shows the repetition of the run. */
LigRepeatRow *lig_run_detail_get_repeat_row (LigRunDetail *self);

G_END_DECLS
