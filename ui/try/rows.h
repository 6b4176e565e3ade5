/* SPDX-License-Identifier: MIT */
/* The part of the page that predicts rows: a form, the prediction, the confusion matrix, and the
 * validation rows with the largest losses. */
#pragma once

#include "ui/session/trying.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_ROWS (lig_try_rows_get_type ())
G_DECLARE_FINAL_TYPE (LigTryRows, lig_try_rows, LIG, TRY_ROWS, AdwBin)

GtkWidget *lig_try_rows_new (void);

/* Uses another process, whose first line was read; null: it ended. */
void lig_try_rows_set_trying (LigTryRows *self, LigTrying *trying);

/* Returns: (transfer full): the request for the shown row, as a line of `lig predict --lines`. */
char *lig_try_rows_to_request (LigTryRows *self);

/* Shows a validation row. */
void lig_try_rows_show_row (LigTryRows *self, gint64 row);

G_END_DECLS
