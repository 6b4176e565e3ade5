/* SPDX-License-Identifier: MIT */
/* The load of experts that a run records every few steps. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns whether the load of experts is due after a step, or the last one. */
gboolean lig_run_loads_at (LigRun *self, gint64 step);

/* Reads the load of the experts and the dropped rows in the last micro-batch of a step, and stores
 * them with the metrics expert-imbalance, aux-loss, z-loss and, with a capacity, dropped-rows. On
 * ranks they are sums over those that have other rows. A store that cannot be written is noted as a
 * problem and does not end the run. */
gboolean lig_run_record_loads (LigRun *self, gint64 step, GError **error);

G_END_DECLS
