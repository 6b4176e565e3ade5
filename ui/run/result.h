/* SPDX-License-Identifier: MIT */
/* The result of a training run, in words. */
#pragma once

#include "ui/session/training.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns: (transfer full): `loss 0.0413 · validation loss 0.0502 · accuracy 98.1 %`; empty without
 * a loss.
 */
char *lig_result_format (LigTraining *training);

/* Shows the status of a finished run in a label; after success, with its losses and a link to its
 * charts. Returns whether it succeeded. */
gboolean lig_result_show (GtkLabel *label, LigTraining *training);

/* Shows a toast with the result of a finished run, and a button that opens its charts.
 */
void lig_result_announce (GtkWidget *widget, LigTraining *training);

G_END_DECLS
