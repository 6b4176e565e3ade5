/* SPDX-License-Identifier: MIT */
/* A document's view, the content of a tab: its pages, its file and its actions.
 *
 * Signals: `titled` when the title or the file changes; `edited` when the edits that can be undone
 * or redone change; `paged` when another page is shown; `answered` with whether the user allows
 * closing, also when a file chooser was cancelled. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_DOCUMENT_VIEW (lig_document_view_get_type ())
G_DECLARE_FINAL_TYPE (LigDocumentView, lig_document_view, LIG, DOCUMENT_VIEW, AdwBin)

LigDocumentView *lig_document_view_new (LigSession *session);

LigDocument *lig_document_view_get_document (LigDocumentView *self);
AdwViewStack *lig_document_view_get_stack (LigDocumentView *self);

/* Returns the actions `win.…`. Widgets of the view use them even while another tab is selected, so
 * the window adds its own actions to them, and adds those of the selected view to its own. */
GSimpleActionGroup *lig_document_view_get_actions (LigDocumentView *self);

/* Returns the widget that toasts are shown on. */
GtkWidget *lig_document_view_get_toasts (LigDocumentView *self);

/* Returns the document's title, with a dot before it if it is modified. */
char *lig_document_view_get_title (LigDocumentView *self);

/* Return the labels of the edits that Ctrl+Z undoes, or Ctrl+Shift+Z redoes, the next one first. */
GStrv lig_document_view_list_edits (LigDocumentView *self, gboolean redo);

/* Returns whether the document is empty and no file is being read or written. */
gboolean lig_document_view_is_pristine (LigDocumentView *self);

/* Returns whether it shows this file, or is about to. */
gboolean lig_document_view_has_file (LigDocumentView *self, const char *path);

/* Shows the file, or a page with its error and the error's location. */
void lig_document_view_open (LigDocumentView *self, GFile *file);

/* Shows a page by its name. */
void lig_document_view_show_page (LigDocumentView *self, const char *name);

/* Asks whether to save the document before it is closed; `answered` follows. */
void lig_document_view_ask (LigDocumentView *self);

G_END_DECLS
