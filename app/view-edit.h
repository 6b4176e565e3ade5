/* SPDX-License-Identifier: MIT */
/* The actions of a view that edit its document. */
#pragma once

#include "app/view-shared.h"

G_BEGIN_DECLS

typedef struct _LigViewEdit LigViewEdit;

LigViewEdit *lig_view_edit_new (const LigViewShared *shared);
void lig_view_edit_free (LigViewEdit *self);

G_END_DECLS
