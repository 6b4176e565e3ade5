/* SPDX-License-Identifier: MIT */
/* All that the store has of one run, beside the list; tags and notes can be edited here. */
#pragma once

#include "ui/history/run-list.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_RUN_DETAIL (lig_run_detail_get_type ())
G_DECLARE_FINAL_TYPE (LigRunDetail, lig_run_detail, LIG, RUN_DETAIL, AdwBin)

/**
 * lig_run_detail_show:
 * @item: (nullable)
 *
 * Shows a run and follows what becomes of it. What is typed and not saved yet is saved before.
 *
 * Signals: `note` with a key and a text, `tag` and `untag` with a key and a tag, when a person
 * changed them. `loaded` when it is known what the run left: a checkpoint, curves.
 */
void lig_run_detail_show (LigRunDetail *self, LigStore *store, LigRunItem *item);

/* Saves what is typed at once. */
void lig_run_detail_save (LigRunDetail *self);

/* (nullable): a file that is there and that the run can go on from. */
const char *lig_run_detail_get_checkpoint (LigRunDetail *self);

void lig_run_detail_edit_notes (LigRunDetail *self);
void lig_run_detail_edit_tags (LigRunDetail *self);

G_END_DECLS
