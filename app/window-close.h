/* SPDX-License-Identifier: MIT */
/* Closing a window: the user is asked before unsaved edits or a training are lost. */
#pragma once

#include "app/window-shared.h"

G_BEGIN_DECLS

typedef struct _LigWindowClose LigWindowClose;

/* @save saves the document and then calls lig_window_close_continue(). */
LigWindowClose *
lig_window_close_new (const LigWindowShared *shared, void (*save) (gpointer data), gpointer data);
void lig_window_close_free (LigWindowClose *self);

/* Returns whether the window may close now; where it returns %FALSE, it asks. */
gboolean lig_window_close_ask (LigWindowClose *self);

/* Continues to close once the document is saved or discarded. */
void lig_window_close_continue (LigWindowClose *self);

/* While all windows are being closed, only the last one asks about trainings. */
void lig_window_close_set_quitting (LigWindowClose *self, gboolean quitting);

G_END_DECLS
