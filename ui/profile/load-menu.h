/* SPDX-License-Identifier: MIT */
/* The choice of the load of experts with which a profile is measured. */
#pragma once

#include "ui/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds a popover to the button, which sets the load of the document's profiling: even, a Zipf
 * distribution, or the last load of a run. */
void lig_load_menu_set_up (GtkMenuButton *button, LigDocument *document);

/* Shows the button, with the load, if the document's plan has experts. */
void lig_load_menu_update (GtkMenuButton *button);

G_END_DECLS
