/* SPDX-License-Identifier: MIT */
/* The palette: every op of the registry by category, with a search. Dragging an op inserts it into
 * a gap of the score (as its name, a string); activating it adds it after the cursor. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_PALETTE (lig_palette_get_type ())
G_DECLARE_FINAL_TYPE (LigPalette, lig_palette, LIG, PALETTE, GtkWidget)

GtkWidget *lig_palette_new (LigDocument *doc);

/* Moves the focus to the search, for win.add-op; its text is selected, so that typing replaces it.
 */
void lig_palette_focus_search (LigPalette *self);

G_END_DECLS
