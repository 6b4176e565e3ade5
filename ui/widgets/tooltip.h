/* SPDX-License-Identifier: MIT */
/* Tooltips set without delay, tooltips that a pointer passes through, and those of texts that are
 * cut. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_tooltips_let_through:
 *
 * Makes all tooltips of the program ignore the pointer; call it once, after GTK was initialized.
 * GTK 4.8 remembers a tooltip that the pointer entered beyond its end, and follows the dangling
 * pointer when the next drag begins or ends.
 */
void lig_tooltips_let_through (void);

/**
 * lig_tooltip_set:
 * @widget: a widget
 * @text: (nullable): the tooltip's text, or %NULL for none
 *
 * Does what gtk_widget_set_tooltip_text() does, without GTK's question for the pointer's place
 * where nothing can have a tooltip open: under the same text, and in a widget outside of any
 * window. GTK 4.8 asks the display server each time, half a millisecond, and a window is made with
 * a hundred tooltips.
 */
void lig_tooltip_set (GtkWidget *widget, const char *text);

/* Shows the whole text of a label as its tooltip, but only where it does not fit. */
void lig_tooltip_when_cut (GtkLabel *label);

/* Ends the tooltip that is about to appear on a widget or in it; call it from the widget's unmap,
 * before that of its parent class. GTK 4.8 asks for the pointer's place when the tooltip's time has
 * come, though the surface is gone. */
void lig_tooltip_forget (GtkWidget *widget);

G_END_DECLS
