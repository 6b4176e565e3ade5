/* SPDX-License-Identifier: MIT */
/* A picture of an attention mask, and a sentence that describes it. */
#pragma once

#include <adwaita.h>

typedef struct _LigOp LigOp;

G_BEGIN_DECLS

#define LIG_TYPE_MASK_VIEW (lig_mask_view_get_type ())
G_DECLARE_FINAL_TYPE (LigMaskView, lig_mask_view, LIG, MASK_VIEW, AdwBin)

GtkWidget *lig_mask_view_new (void);

/* Shows the mask of an op; hidden if it has none. @tokens: of its input, 0 if unknown */
void lig_mask_view_show (LigMaskView *self, LigOp *op, gint64 tokens);

G_END_DECLS
