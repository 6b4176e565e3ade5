/* SPDX-License-Identifier: MIT */
/* A training run in a list: name, device and progress. */
#pragma once

#include "ui/session/training.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Returns a GtkListBoxRow. */
GtkWidget *lig_training_row_new (LigTraining *training);

/* (transfer none) */
LigTraining *lig_training_row_get (GtkListBoxRow *row);

G_END_DECLS
