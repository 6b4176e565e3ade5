/* SPDX-License-Identifier: MIT */
/* The size of text, for widgets that draw or measure it themselves. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns the line height of a widget's font, scaled by a factor. */
double lig_text_line (GtkWidget *widget, double factor);

/* Returns the ratio of a widget's text size to that for which pictures and charts were designed: 1
 * with the usual font, never less. */
double lig_text_scale (GtkWidget *widget);

/* Sets a minimum width of a widget that grows with the text size, at most by a factor of @max. The
 * maximum width @widest of an AdwClamp around it grows in the same way; 0: there is none. */
void lig_text_widen (GtkWidget *widget, int width, int widest, double max);

G_END_DECLS
