/* SPDX-License-Identifier: MIT */
/* The prediction of a row: its class or value, the probabilities, the loss, and the columns that
 * move it most. */
#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_PREDICTION (lig_try_prediction_get_type ())
G_DECLARE_FINAL_TYPE (LigTryPrediction, lig_try_prediction, LIG, TRY_PREDICTION, AdwBin)

GtkWidget *lig_try_prediction_new (void);

/* Shows an answer of `lig predict --lines`, which may be an error. */
void lig_try_prediction_show (LigTryPrediction *self, JsonObject *model, JsonObject *answer);

G_END_DECLS
