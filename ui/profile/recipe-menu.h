/* SPDX-License-Identifier: MIT */
/* The choice of the recipes that are compared: a check button for each, with its description or the
 * reason why the device does not support it. */
#pragma once

#include "ui/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds a popover to the button, which is filled for the document's device when it opens. */
void lig_recipe_menu_set_up (GtkMenuButton *button, LigDocument *document);

/* Compares the chosen recipes, by default all that the device supports; each runs @rounds times. */
void lig_recipe_menu_compare (GtkMenuButton *button, guint rounds);

G_END_DECLS
