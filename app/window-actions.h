/* SPDX-License-Identifier: MIT */
/* The actions of a window: its own, and those of the selected document. A view also has its
 * window's own actions, so that its widgets find all actions. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigWindowActions LigWindowActions;

LigWindowActions *lig_window_actions_new (GActionMap *window);
void lig_window_actions_free (LigWindowActions *self);

/* Adds actions of the window itself; called before any view is adopted. */
void lig_window_actions_add (LigWindowActions *self,
                             const GActionEntry *entries,
                             int count,
                             gpointer data);

/* Adds the window's actions to those of a view. */
void lig_window_actions_adopt (LigWindowActions *self, GSimpleActionGroup *view);

/* Makes the window's actions those of this view from now on. @view: (nullable) */
void lig_window_actions_select (LigWindowActions *self, GSimpleActionGroup *view);

G_END_DECLS
