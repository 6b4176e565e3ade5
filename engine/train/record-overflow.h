/* SPDX-License-Identifier: MIT */
/* Rows that did not fit into the exchange between ranks that share experts: they end the run, or
 * are counted. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Makes the results of the training program contain the numbers of these rows. */
gboolean lig_run_watch_overflow (LigRun *self, GError **error);

/* Adds the numbers of a micro-batch to those of the step: those that its results contain
 * (nullable), or those of the last forward pass. */
void lig_run_add_overflow (LigRun *self, const float *numbers);
gboolean lig_run_read_overflow (LigRun *self, GError **error);

/* Ends a step, which all ranks do together: fails if an op with overflow=stop has such rows, and
 * names the op, the ranks and both numbers; otherwise notes the metric exchange-dropped, the rows
 * of all ranks. */
gboolean lig_run_join_overflow (LigRun *self, gint64 step, GError **error);

G_END_DECLS
