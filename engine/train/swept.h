/* SPDX-License-Identifier: MIT */
/* The sequence and the settings shared by all runs of a sweep, for its report. */
#pragma once

#include <ligature/sweep.h>

G_BEGIN_DECLS

/* Returns the sweep's copy of the sequence. */
LigSequence *lig_sweep_get_sequence (LigSweep *self);

/* Returns the settings shared by all runs. */
const LigRunSettings *lig_sweep_get_settings (LigSweep *self);

G_END_DECLS
