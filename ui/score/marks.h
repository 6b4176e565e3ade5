/* SPDX-License-Identifier: MIT */
/* The signs of forced and forbidden fusions and of quantized copies: a pin, a crossed circle, an 8
 * and a 4. */
#pragma once

#include "ui/score/map.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns the overrides at an op, including those of the ops in its body. */
LigScoreMarks lig_score_marks_of (LigOp *op);

/* Returns the words for screen readers, null without a mark. */
const char *lig_score_marks_text (LigScoreMarks marks);

/* Returns a picture of the signs. */
GtkWidget *lig_score_marks_new (LigScoreMarks marks);

/* Draws the signs from @x to the right and returns their width including the space after them, 0
 * without a mark. @middle: their vertical centre. @size: of one */
int lig_score_marks_draw (
  LigScoreMarks marks, GtkWidget *widget, GtkSnapshot *snapshot, int x, int middle, int size);

G_END_DECLS
