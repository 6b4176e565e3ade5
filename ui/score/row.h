/* SPDX-License-Identifier: MIT */
/* A row of the score: one op. It has no child widgets; its text is laid out when first visible. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_OP_ROW (lig_op_row_get_type ())
G_DECLARE_FINAL_TYPE (LigOpRow, lig_op_row, LIG, OP_ROW, GtkWidget)

GtkWidget *lig_op_row_new (LigDocument *document);

/* Sets the row's number in the map; lig_op_row_bind() fills in its content. */
void lig_op_row_place (LigOpRow *self, const LigScoreMap *map, guint number);
void lig_op_row_bind (LigOpRow *self, const LigScoreMap *map, guint number);

/* Updates selection and problem from the document. */
void lig_op_row_update (LigOpRow *self);

/* Returns: (nullable): the op it shows. */
LigOp *lig_op_row_get_op (LigOpRow *self);
guint lig_op_row_get_number (LigOpRow *self);
LigDocument *lig_op_row_get_document (LigOpRow *self);

/* Returns whether @x, @y is on the disclosure triangle of a block. */
gboolean lig_op_row_is_disclosure (LigOpRow *self, double x, double y);

/* Opens the menu of the row's actions at a point; a negative @x: at the keyboard focus. */
void lig_op_row_show_menu (LigOpRow *self, double x, double y);

/* Adds the actions op.* and their keys to all rows, see actions.c. Called once, before the first
 * row is created, because a row does not know the host that its actions use. */
void lig_op_row_install_actions (void);

G_END_DECLS
