/* SPDX-License-Identifier: MIT */
/* The gap before a row: how many fusions were rejected across it, and its fence. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SHEET_GAP (lig_sheet_gap_get_type ())
G_DECLARE_FINAL_TYPE (LigSheetGap, lig_sheet_gap, LIG, SHEET_GAP, GtkWidget)

GtkWidget *lig_sheet_gap_new (LigDocument *document);

/* Sets the gap's content. @active: whether it can be explained */
void lig_sheet_gap_bind (
  LigSheetGap *self, guint number, guint near_misses, gboolean fence, gboolean active);
/* Sets the height between the rows, which the widget may exceed. */
void lig_sheet_gap_set_space (LigSheetGap *self, int space);
guint lig_sheet_gap_get_number (LigSheetGap *self);
gboolean lig_sheet_gap_get_fence (LigSheetGap *self);

G_END_DECLS
