/* SPDX-License-Identifier: MIT */
/* The keys of a window that also have a meaning in a text entry. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds the keys of the actions that edit. @window: it has the actions */
void lig_window_keys_add (GtkWindow *window);

/* Returns: (nullable): the first of these keys that activates an action. */
const char *lig_window_keys_find (const char *action);

G_END_DECLS
