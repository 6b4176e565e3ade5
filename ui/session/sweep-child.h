/* SPDX-License-Identifier: MIT */
/* A point of a sweep that several ranks train together, in processes of their own. */
#pragma once

#include "ui/session/child-run.h"
#include <ligature/sweep.h>

G_BEGIN_DECLS

/* Returns how the ranks of a sweep divide the work; one rank if the record of it is damaged. */
LigLayout lig_sweep_child_get_layout (LigSweep *sweep);

/**
 * lig_sweep_child_new:
 *
 * Trains a point as lig_sweep_prepare() would, and records that its run belongs to the sweep. Waits
 * until the processes are prepared.
 *
 * Returns: (transfer full) (nullable): null with an error set
 */
LigChildRun *lig_sweep_child_new (LigSweep *sweep, guint point, LigStore *store, GError **error);

G_END_DECLS
