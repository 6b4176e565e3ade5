/* SPDX-License-Identifier: MIT */
/* Problems from before the window opened: a store that cannot be opened, edits of a killed program.
 * Each is a notice whose buttons offer a remedy. */
#pragma once

#include "app/window-notice.h"
#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct _LigWindowRecover LigWindowRecover;

/**
 * LigWindowPlaces:
 * @find_toasts: returns the widget for toasts
 * @find_document: returns a document that restored edits may replace: the selected one, or if that
 *   is in use, that of a new tab
 */
typedef struct {
  GtkWidget *(*find_toasts) (gpointer data);
  LigDocument *(*find_document) (gpointer data);
} LigWindowPlaces;

LigWindowRecover *lig_window_recover_new (GtkWindow *window,
                                          LigSession *session,
                                          LigNoticeBar *notices,
                                          const LigWindowPlaces *places,
                                          gpointer data);
/* Called when the window is disposed: a search in progress offers nothing more. */
void lig_window_recover_cancel (LigWindowRecover *self);
void lig_window_recover_free (LigWindowRecover *self);

/* Looks for all three; lost edits and the interrupted run are read on a thread. */
void lig_window_recover_offer (LigWindowRecover *self);

void lig_window_recover_choose_store (LigWindowRecover *self);

G_END_DECLS
