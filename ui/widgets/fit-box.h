/* SPDX-License-Identifier: MIT */
/* A row of widgets that all fit: those for which there is no room move into the popover of a button
 * at its end, the last in rank first. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_FIT_BOX (lig_fit_box_get_type ())
G_DECLARE_FINAL_TYPE (LigFitBox, lig_fit_box, LIG, FIT_BOX, GtkWidget)

/**
 * lig_fit_box_add:
 * @child: made, or in the template, a child of the box; in the order of the row
 * @label: its name in the popover, translated
 * @rank: 0 for the child that always stays in the row
 */
void lig_fit_box_add (LigFitBox *self, GtkWidget *child, const char *label, int rank);

/* Returns the button that opens the popover. */
GtkWidget *lig_fit_box_get_button (LigFitBox *self);

G_END_DECLS
