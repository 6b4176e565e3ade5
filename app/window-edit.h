/* SPDX-License-Identifier: MIT */
/* The actions of a window that edit its document, and their keys. */
#pragma once

#include "app/window-shared.h"

G_BEGIN_DECLS

typedef struct _LigWindowEdit LigWindowEdit;

/* @history: the section of the menu that names the edits that can be undone and redone */
LigWindowEdit *lig_window_edit_new (const LigWindowShared *shared, GMenu *history);
void lig_window_edit_free (LigWindowEdit *self);

G_END_DECLS
