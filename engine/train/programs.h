/* SPDX-License-Identifier: MIT */
/* Makes the programs of a run from its settings. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Opens the data set, checks that sequence and data match, and makes the state. `seed`, `batch` and
 * so on come from the settings, which are `fresh` if the caller can still change them. */
gboolean lig_run_prepare (LigRun *self, gboolean fresh, GError **error);

/* Compiles the plans, with self->choices and self->calibration_choices if set. */
gboolean lig_run_compile (LigRun *self, GError **error);

/* Activates the programs for the step: those of the first steps calibrate. */
gboolean lig_run_choose_programs (LigRun *self, gint64 step, GError **error);

G_END_DECLS
