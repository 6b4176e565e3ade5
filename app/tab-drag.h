/* SPDX-License-Identifier: MIT */
/* Tabs that are dragged out of a window always end somewhere. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_tab_drag_watch:
 * @window: a window with a tab bar
 *
 * Ends drags whose drop is not answered, which happens on a desktop without a window manager: the
 * tab bar has given the tab away by then and waits without end. As if there was no
 * target, it then opens a window for the tab.
 */
void lig_tab_drag_watch (GtkWidget *window);

G_END_DECLS
