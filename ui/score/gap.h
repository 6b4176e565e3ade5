/* SPDX-License-Identifier: MIT */
/* The gap before a row: how many fusions were refused across it, and its fence. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_GAP (lig_score_gap_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreGap, lig_score_gap, LIG, SCORE_GAP, GtkWidget)

GtkWidget *lig_score_gap_new (void);

/* @active: whether there is anything to say about it. */
void lig_score_gap_bind (
  LigScoreGap *self, guint number, guint near_misses, gboolean fence, gboolean active);
guint lig_score_gap_get_number (LigScoreGap *self);
gboolean lig_score_gap_get_fence (LigScoreGap *self);

G_END_DECLS
