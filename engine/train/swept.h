/* SPDX-License-Identifier: MIT */
/* The sequence and the settings that all runs of a sweep share, for its report. */
#pragma once

#include <ligature/sweep.h>

G_BEGIN_DECLS

/* Returns the sweep's own copy of the sequence. */
LigSequence *lig_sweep_get_sequence (LigSweep *self);

/* Returns the settings that all runs share. */
const LigRunSettings *lig_sweep_get_settings (LigSweep *self);

G_END_DECLS
