/* SPDX-License-Identifier: MIT */
/* The keys of a window that also have a meaning in a text entry. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds the keys of the actions that edit. @window: it has the actions */
void lig_window_keys_add (GtkWindow *window);

G_END_DECLS
