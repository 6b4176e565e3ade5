/* SPDX-License-Identifier: MIT */
/* The actions of a window: its own, and those of the document that is selected. A view has the own
 * ones of its window too, so that all actions can be found from its widgets. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigWindowActions LigWindowActions;

LigWindowActions *lig_window_actions_new (GActionMap *window);
void lig_window_actions_free (LigWindowActions *self);

/* Adds actions of the window itself; before any view is adopted. */
void lig_window_actions_add (LigWindowActions *self,
                             const GActionEntry *entries,
                             int count,
                             gpointer data);

/* Gives a view's actions those of the window. */
void lig_window_actions_adopt (LigWindowActions *self, GSimpleActionGroup *view);

/* The window's actions are from now on those of this view. @view: (nullable) */
void lig_window_actions_select (LigWindowActions *self, GSimpleActionGroup *view);

G_END_DECLS
