/* SPDX-License-Identifier: MIT */
/* A window: documents in tabs.
 *
 * Signals: `stayed` when the user decided not to close it; `files` when its tabs have other files,
 * or another one is shown. */
#pragma once

#include "app/document-view.h"

G_BEGIN_DECLS

#define LIG_TYPE_WINDOW (lig_window_get_type ())
G_DECLARE_FINAL_TYPE (LigWindow, lig_window, LIG, WINDOW, AdwApplicationWindow)

/* Returns a window with one tab, an empty document. */
LigWindow *lig_window_new (GtkApplication *application, LigSession *session);

AdwTabView *lig_window_get_tabs (LigWindow *self);

/* Returns the view of the selected tab. */
LigDocumentView *lig_window_get_view (LigWindow *self);

/* Returns the document of the selected tab. */
LigDocument *lig_window_get_document (LigWindow *self);

/* Adds and selects a tab with an empty document. */
LigDocumentView *lig_window_add_tab (LigWindow *self);

/* Selects the tab with the file, and returns whether there is one. */
gboolean lig_window_select_file (LigWindow *self, const char *path);

/* Shows the file, or a page with its error and the error's location, in an empty tab or a new
 * one. */
void lig_window_open (LigWindow *self, GFile *file);

/* Explains an error of the store, and searches on a thread for edits that a killed program left, to
 * offer them. The application calls it for its first window. */
void lig_window_offer_help (LigWindow *self);

/* Sets whether all windows are being closed. */
void lig_window_set_quitting (LigWindow *self, gboolean quitting);

/* A window hides the bar of a single tab if no other window could drop tabs there. */
void lig_window_set_alone (LigWindow *self, gboolean alone);

G_END_DECLS
