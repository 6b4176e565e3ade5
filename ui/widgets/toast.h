/* SPDX-License-Identifier: MIT */
/* Short messages at the bottom of the window. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * lig_toast:
 * @widget: anywhere in the window
 * @text: translated
 * @button, @action: (nullable): `Undo`, `win.undo`
 */
void lig_toast (GtkWidget *widget, const char *text, const char *button, const char *action);

/* Shows the engine's error with a capital letter, and frees it. */
void lig_toast_error (GtkWidget *widget, GError *error);

G_END_DECLS
