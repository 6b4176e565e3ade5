/* SPDX-License-Identifier: MIT */
/* A window: one document, a page for each view of it. */
#pragma once

#include "app/application.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

#define LIG_TYPE_WINDOW (lig_window_get_type ())
G_DECLARE_FINAL_TYPE (LigWindow, lig_window, LIG, WINDOW, AdwApplicationWindow)

LigWindow *lig_window_new (LigApplication *application);
LigDocument *lig_window_get_document (LigWindow *self);

/* Nothing is in it yet, and nothing is on its way. */
gboolean lig_window_is_pristine (LigWindow *self);

/* Shows the file, or a page that says what is wrong with it and where. */
void lig_window_open (LigWindow *self, GFile *file);

/* Shows a page by its name. */
void lig_window_show_page (LigWindow *self, const char *name);

/* Says what is wrong with the store, and looks on a thread for edits that a killed program left,
 * to offer them. For the first window. */
void lig_window_offer_help (LigWindow *self);

G_END_DECLS
