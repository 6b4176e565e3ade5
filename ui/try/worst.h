/* SPDX-License-Identifier: MIT */
/* A list of validation rows, those with the largest losses first. */
#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_WORST (lig_try_worst_get_type ())
G_DECLARE_FINAL_TYPE (LigTryWorst, lig_try_worst, LIG, TRY_WORST, AdwBin)

/* Signal: `chosen` with the index of a validation row, (gint64). */
GtkWidget *lig_try_worst_new (void);

/* A row: @target and @prediction are classes, or values. */
typedef struct {
  gint64 row;
  double target, prediction, loss;
} LigTryWorstRow;

void lig_try_worst_clear (LigTryWorst *self, JsonObject *model);
void lig_try_worst_add (LigTryWorst *self, const LigTryWorstRow *row);

/* Returns how many rows are listed, and the index of one. */
guint lig_try_worst_get_count (LigTryWorst *self);
gint64 lig_try_worst_get_row (LigTryWorst *self, guint n);

G_END_DECLS
