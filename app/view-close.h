/* SPDX-License-Identifier: MIT */
/* Closing a document: the user is asked before unsaved edits are lost. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

/* Asks whether to save the document. @save saves it, asking for a file if it has none, and then
 * answers. The view's signal `answered` carries the answer, or that of @save. */
void lig_view_close_ask (const LigViewShared *shared, void (*save) (gpointer data), gpointer data);

G_END_DECLS
