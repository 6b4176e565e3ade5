/* SPDX-License-Identifier: MIT */
/* Tooltips that are cheap to set, that ignore the pointer, and that show truncated texts. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_tooltips_let_through:
 *
 * Makes all tooltips of the program ignore the pointer; call it once, after GTK was initialized.
 * GTK 4.8 remembers a tooltip that the pointer entered after it is freed, and dereferences the
 * dangling pointer when the next drag starts or ends.
 */
void lig_tooltips_let_through (void);

/**
 * lig_tooltip_set:
 * @widget: a widget
 * @text: (nullable): the tooltip's text, or %NULL for none
 *
 * Does the same as gtk_widget_set_tooltip_text(), but does not query the pointer position if no
 * tooltip can be open: if the text is unchanged, or the widget is outside any window. GTK 4.8 asks
 * the display server each time, which takes half a millisecond, and a window has a hundred
 * tooltips.
 */
void lig_tooltip_set (GtkWidget *widget, const char *text);

/* Shows the full text of a label as its tooltip, but only if it does not fit. */
void lig_tooltip_when_cut (GtkLabel *label);

/* Cancels the tooltip that is about to appear on a widget or inside it; call it from the widget's
 * unmap, before that of its parent class. GTK 4.8 queries the pointer position when the tooltip's
 * timeout expires, even if the surface is gone. */
void lig_tooltip_forget (GtkWidget *widget);

G_END_DECLS
