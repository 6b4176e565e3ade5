/* SPDX-License-Identifier: MIT */
/* A window: one document, and a page for each view of it.
 *
 * Signals: `stayed` when the user chose not to close it after all. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_WINDOW (lig_window_get_type ())
G_DECLARE_FINAL_TYPE (LigWindow, lig_window, LIG, WINDOW, AdwApplicationWindow)

LigWindow *lig_window_new (GtkApplication *application, LigSession *session);
LigDocument *lig_window_get_document (LigWindow *self);

/* Returns whether the document is empty and no file is being read or written. */
gboolean lig_window_is_pristine (LigWindow *self);

/* Shows the file, or a page with its error and the place of it. */
void lig_window_open (LigWindow *self, GFile *file);

/* Shows a page by its name. */
void lig_window_show_page (LigWindow *self, const char *name);

/* Explains an error of the store, and looks on a thread for edits that a killed program left, to
 * offer them. The application calls it for its first window. */
void lig_window_offer_help (LigWindow *self);

/* All windows are being closed, or no longer. */
void lig_window_set_quitting (LigWindow *self, gboolean quitting);

G_END_DECLS
