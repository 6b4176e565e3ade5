/* SPDX-License-Identifier: MIT */
/* Closing a tab or a window: the user is asked before unsaved edits or a run are lost. */
#pragma once

#include "app/document-view.h"

G_BEGIN_DECLS

typedef struct _LigWindowClose LigWindowClose;

LigWindowClose *lig_window_close_new (GtkWindow *window, AdwTabView *tabs, LigSession *session);
void lig_window_close_free (LigWindowClose *self);

/* Returns whether the window may close now. If it returns %FALSE, it asks about one document after
 * the other, and then closes the window. */
gboolean lig_window_close_ask (LigWindowClose *self);

/* The user answered the question about a document. */
void lig_window_close_take_answer (LigWindowClose *self, LigDocumentView *view, gboolean may_close);

/* While all windows are being closed, only the last one asks about running runs. */
void lig_window_close_set_quitting (LigWindowClose *self, gboolean quitting);

G_END_DECLS
