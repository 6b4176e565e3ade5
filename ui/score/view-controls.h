/* SPDX-License-Identifier: MIT */
/* The view controls of the score: zoom, compact rows, folding, hotspots, colours. */
#pragma once

#include "ui/score/sheet.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Adds the actions `view.*` with their keys to a widget that contains the sheet in a scrolled
 * window. The keys work in the whole window while the widget is visible. */
void
lig_score_add_view_actions (GtkWidget *view, LigScoreSheet *sheet, GtkScrolledWindow *scrolled);

/* Returns the button whose menu has these actions. */
GtkWidget *lig_score_view_button_new (void);

G_END_DECLS
