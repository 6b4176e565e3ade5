/* SPDX-License-Identifier: MIT */
/* A sweep that the window runs: one run after another, each also in the session's list. A thread
 * compiles plans and reads the store. */
#pragma once

#include "ui/session/training.h"
#include <ligature/sweep.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEPING (lig_sweeping_get_type ())
G_DECLARE_FINAL_TYPE (LigSweeping, lig_sweeping, LIG, SWEEPING, GObject)

/**
 * LigSweeping::changed:
 *
 * Emitted when its results, its progress or its state changed.
 */

/* Starts or continues a sweep and takes ownership of it. The session keeps it. */
LigSweeping *lig_sweeping_start (LigSession *session, LigSweep *sweep);

/* Returns: (transfer none) (nullable): the sweeping of this sweep in this session. */
LigSweeping *lig_sweeping_find (LigSession *session, const char *sweep);

/* Returns the sweep with its newest results; each result replaces the object. */
LigSweep *lig_sweeping_get_sweep (LigSweeping *self);

/* Returns the number of the point that is being trained or prepared, -1 for none. */
int lig_sweeping_get_point (LigSweeping *self);

/* Returns: (nullable): the run of that point, null while it is being prepared. */
LigTraining *lig_sweeping_get_training (LigSweeping *self);

/* Returns the estimated seconds until the end, NaN if unknown. */
double lig_sweeping_get_left (LigSweeping *self);

/* Returns: (nullable): the reason why the sweep could not start or continue. */
const char *lig_sweeping_get_error (LigSweeping *self);

gboolean lig_sweeping_is_active (LigSweeping *self);
gboolean lig_sweeping_is_paused (LigSweeping *self);
void lig_sweeping_set_paused (LigSweeping *self, gboolean paused);

/* Saves the current run as interrupted and ends; the sweep can be continued. */
void lig_sweeping_stop (LigSweeping *self);

G_END_DECLS
