/* SPDX-License-Identifier: MIT */
/* The choice of the recipes that are compared: a check button each, with what the recipe does or
 * why the device does not compute with it. */
#pragma once

#include "ui/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Gives the button a popover that is made for the document's device when it opens. */
void lig_recipe_menu_set_up (GtkMenuButton *button, LigDocument *document);

/* Compares the chosen recipes, at first all that the device computes with; each runs @rounds
 * times. */
void lig_recipe_menu_compare (GtkMenuButton *button, guint rounds);

G_END_DECLS
