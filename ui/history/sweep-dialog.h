/* SPDX-License-Identifier: MIT */
/* A window that asks for the settings of a sweep and the values to try. */
#pragma once

#include "ui/document/document.h"
#include <ligature/sweep.h>

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEP_DIALOG (lig_sweep_dialog_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepDialog, lig_sweep_dialog, LIG, SWEEP_DIALOG, AdwWindow)

/**
 * LigSweepDialog::start:
 * @sweep: (transfer none): the sweep, which has not begun
 *
 * Emitted once, when the user starts the sweep.
 */

GtkWidget *lig_sweep_dialog_new (LigDocument *doc, GtkWindow *parent);

G_END_DECLS
