/* SPDX-License-Identifier: MIT */
/* Problems from before the window opened: a store that does not open, edits of a killed program.
 * Each is a notice whose buttons offer a remedy. */
#pragma once

#include "app/window-notice.h"
#include "app/window-shared.h"

G_BEGIN_DECLS

typedef struct _LigWindowRecover LigWindowRecover;

/* @find_document returns a document that restored edits may replace: that of the window, or where
 * that one is in use, of a new window. */
LigWindowRecover *lig_window_recover_new (const LigWindowShared *shared,
                                          LigNoticeBar *notices,
                                          LigDocument *(*find_document) (gpointer data),
                                          gpointer data);
void lig_window_recover_free (LigWindowRecover *self);

/* Looks for both problems; lost edits are read on a thread. */
void lig_window_recover_offer (LigWindowRecover *self);

G_END_DECLS
