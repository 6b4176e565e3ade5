/* SPDX-License-Identifier: MIT */
/* Undo and redo: of the page's own edits if it has any, otherwise of the document's. The view's
 * signal `edited` reports changes. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

/* Adds the actions `undo`, `redo` and `undo-steps`, which redoes if its number is negative. */
void lig_view_undo_add_actions (const LigViewShared *shared);

/* Called when another page is shown, or the edits of the page or of the document change. */
void lig_view_undo_update (const LigViewShared *shared);

/* Returns: (transfer full): the labels, the next edit first. */
GStrv lig_view_undo_list (const LigViewShared *shared, gboolean redo);

G_END_DECLS
