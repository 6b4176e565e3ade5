/* SPDX-License-Identifier: MIT */
/* A point of a sweep, trained in processes of its own. */
#pragma once

#include "ui/session/child-run.h"
#include <ligature/sweep.h>

G_BEGIN_DECLS

/* Returns the parallelism of a sweep; one rank if its record is damaged. */
LigLayout lig_sweep_child_get_layout (LigSweep *sweep);

/**
 * lig_sweep_child_new:
 *
 * Trains a point like lig_sweep_prepare(), and records that its run belongs to the sweep. Waits
 * until the processes are ready.
 *
 * Returns: (transfer full) (nullable): null with an error set
 */
LigChildRun *lig_sweep_child_new (LigSweep *sweep, guint point, LigStore *store, GError **error);

G_END_DECLS
