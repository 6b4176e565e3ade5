/* SPDX-License-Identifier: MIT */
/* The size of text, for widgets that draw or measure it themselves. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns the height of a line in a widget's font, if the font were that many times as large. */
double lig_text_line (GtkWidget *widget, double factor);

/* Returns how much larger a widget's text is than the text that pictures and charts were designed
 * for: 1 with the usual font, never less. */
double lig_text_scale (GtkWidget *widget);

/* Gives a widget a least width that grows with the size of text, at most by a factor of @max. An
 * AdwClamp around it gets @widest likewise; 0: there is none. */
void lig_text_widen (GtkWidget *widget, int width, int widest, double max);

G_END_DECLS
