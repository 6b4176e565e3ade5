/* SPDX-License-Identifier: MIT */
/* Undo and redo: on a page with edits of its own these, elsewhere the edits of the document. The
 * view's signal `edited` announces new ones. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

/* Adds the actions `undo`, `redo` and `undo-steps`, which redoes where its number is negative. */
void lig_view_undo_add_actions (const LigViewShared *shared);

/* Another page is shown, or the edits of the page or of the document are new. */
void lig_view_undo_update (const LigViewShared *shared);

/* Returns: (transfer full): the labels, the next edit first. */
GStrv lig_view_undo_list (const LigViewShared *shared, gboolean redo);

G_END_DECLS
