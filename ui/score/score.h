/* SPDX-License-Identifier: MIT */
/* The score: forward rail, ops, backward rail of a document's sequence, in a scrolled window. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_VIEW (lig_score_view_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreView, lig_score_view, LIG, SCORE_VIEW, AdwBin)

GtkWidget *lig_score_view_new (LigDocument *document);

/**
 * lig_score_view_drop:
 * @text: name of an op, the text of a .lig file, or an expression
 * @gap: number of the row to insert before; the number of rows for the end
 *
 * Inserts the text like a drop there.
 */
gboolean lig_score_view_drop (LigScoreView *self, const char *text, guint gap, GError **error);

/* Moves the keyboard focus to the row with the cursor. */
void lig_score_view_focus (LigScoreView *self);

G_END_DECLS
