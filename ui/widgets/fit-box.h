/* SPDX-License-Identifier: MIT */
/* A row of widgets with overflow: those that do not fit move into the popover of a button at its
 * end, highest rank first. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_FIT_BOX (lig_fit_box_get_type ())
G_DECLARE_FINAL_TYPE (LigFitBox, lig_fit_box, LIG, FIT_BOX, GtkWidget)

/**
 * lig_fit_box_add:
 * @child: new, or a child of the box in the template; in the order of the row
 * @label: its name in the popover, translated
 * @rank: 0: the child always stays in the row
 */
void lig_fit_box_add (LigFitBox *self, GtkWidget *child, const char *label, int rank);

/* Returns the button that opens the popover. */
GtkWidget *lig_fit_box_get_button (LigFitBox *self);

G_END_DECLS
