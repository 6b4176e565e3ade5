/* SPDX-License-Identifier: MIT */
/* The numbers of a running training run, in labels. */
#pragma once

#include "ui/session/training.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Widgets of a template; any may be null. */
typedef struct {
  GtkWidget *spark;
  GtkLabel *loss, *validation, *speed, *status;
  GtkProgressBar *progress;

  LigCurve *curve; /* drawn by the spark */
  gint64 updated;
} LigRunLive;

/* Updates the labels, at most ten times a second unless @now is set: faster updates are
 * unreadable. */
void lig_run_live_update (LigRunLive *self, LigTraining *training, gboolean now);
void lig_run_live_clear (LigRunLive *self);

G_END_DECLS
