/* SPDX-License-Identifier: MIT */
/* The distributions of weights and gradients that a run records every few steps. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns whether histograms are due after a step, or the last one. */
gboolean lig_run_counts_at (LigRun *self, gint64 step);

/* Counts the values of the trained parameters and of their gradients after a step whose update is
 * done, and stores them; all ranks call it. The values are only read, so that losses are the same
 * without it. A store that cannot be written is noted as a problem and does not end the run. */
gboolean lig_run_count (LigRun *self, gint64 step, GError **error);

G_END_DECLS
