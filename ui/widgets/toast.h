/* SPDX-License-Identifier: MIT */
/* Short messages at the top of a document, where they cover no figures. */
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

/* Makes toasts of all widgets inside @widget appear on @overlay. */
void lig_toast_set_overlay (GtkWidget *widget, GtkWidget *overlay);

/* Returns: (nullable): the overlay for the toasts of a widget. */
GtkWidget *lig_toast_find_overlay (GtkWidget *widget);

/* Says that a file was written, with a button that opens its folder. */
void lig_toast_exported (GtkWidget *widget, const char *path);

/* Shows the engine's error with a capital letter, and frees it. */
void lig_toast_error (GtkWidget *widget, GError *error);

G_END_DECLS
