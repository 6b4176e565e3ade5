/* SPDX-License-Identifier: MIT */
/* The numbers of a training that is under way, in labels. */
#pragma once

#include "ui/session/training.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Widgets of a template; any may be null. */
typedef struct {
  GtkWidget *spark;
  GtkLabel *loss, *held_out, *speed, *status;
  GtkProgressBar *progress;

  LigCurve *curve; /* that the spark draws */
  gint64 updated;
} LigRunLive;

/* Ten times a second at most, but for @now: faster nobody reads. */
void lig_run_live_update (LigRunLive *self, LigTraining *training, gboolean now);
void lig_run_live_clear (LigRunLive *self);

G_END_DECLS
