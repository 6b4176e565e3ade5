/* SPDX-License-Identifier: MIT */
/* A confusion matrix: a button for each pair of a target and a prediction. */
#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_CONFUSION (lig_confusion_get_type ())
G_DECLARE_FINAL_TYPE (LigConfusion, lig_confusion, LIG, CONFUSION, AdwBin)

/* Signal: `chosen` with the target and the prediction of a cell, (guint, guint). */
GtkWidget *lig_confusion_new (void);

/* Shows the matrix of an evaluation. Of many classes it has those with the most wrong rows. */
void lig_confusion_show (LigConfusion *self, JsonObject *model, JsonArray *matrix);

/* Marks a cell; negative numbers: none. */
void lig_confusion_mark (LigConfusion *self, int target, int prediction);

/* Returns: (nullable): the button of a cell. */
GtkWidget *lig_confusion_get_cell (LigConfusion *self, guint target, guint prediction);

G_END_DECLS
