/* SPDX-License-Identifier: MIT */
/* A sweep: its progress with buttons to pause, stop and continue, its picture and its table. */
#pragma once

#include "ui/session/sweeping.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEP_VIEW (lig_sweep_view_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepView, lig_sweep_view, LIG, SWEEP_VIEW, AdwBin)

/**
 * LigSweepView::use:
 * @point: the number of a point
 *
 * Emitted when the user wants its settings in the sequence: those of the selected row, without one
 * the best.
 */

GtkWidget *lig_sweep_view_new (LigSession *session);

/* Shows a sweep that this session runs, or reads one from the store on a thread. */
void lig_sweep_view_follow (LigSweepView *self, LigSweeping *sweeping);
void lig_sweep_view_open (LigSweepView *self, const char *sweep);

/* Returns: (nullable): the sweep as it is shown. */
LigSweep *lig_sweep_view_get_sweep (LigSweepView *self);

G_END_DECLS
