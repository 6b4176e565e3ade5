/* SPDX-License-Identifier: MIT */
/* A row of the score: one op. It has no child; its text is laid out when it is first seen. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SCORE_ROW (lig_score_row_get_type ())
G_DECLARE_FINAL_TYPE (LigScoreRow, lig_score_row, LIG, SCORE_ROW, GtkWidget)

GtkWidget *lig_score_row_new (LigDocument *document);

/* Which row of the map it is; what it says follows with lig_score_row_bind(). */
void lig_score_row_place (LigScoreRow *self, const LigScoreMap *map, guint number);
void lig_score_row_bind (LigScoreRow *self, const LigScoreMap *map, guint number);

/* Selection and problem as the document has them now. */
void lig_score_row_update (LigScoreRow *self);

/* (nullable): the op it shows. */
LigOp *lig_score_row_get_op (LigScoreRow *self);
guint lig_score_row_get_number (LigScoreRow *self);
LigDocument *lig_score_row_get_document (LigScoreRow *self);

/* Whether a press at @x, @y is on the disclosure triangle of a block. */
gboolean lig_score_row_is_disclosure (LigScoreRow *self, double x, double y);

/* Opens the menu of the row's actions; a negative @x: where the keyboard would. */
void lig_score_row_show_menu (LigScoreRow *self, double x, double y);

/* score-actions.c: op.* and the keys. */
void lig_score_row_install_actions (GtkWidgetClass *class);

G_END_DECLS
