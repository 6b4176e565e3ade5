/* SPDX-License-Identifier: MIT */
/* A search for rows of the score by an op's name, its title, or its path. Return goes to the next
 * match. Signal: `finished` when the user pressed Escape. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_FIND_BAR (lig_find_bar_get_type ())
G_DECLARE_FINAL_TYPE (LigFindBar, lig_find_bar, LIG, FIND_BAR, GtkWidget)

GtkWidget *lig_find_bar_new (LigDocument *document);

/* Shows the bar and moves the focus to it. */
void lig_find_bar_begin (LigFindBar *self);

G_END_DECLS
