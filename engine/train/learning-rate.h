/* SPDX-License-Identifier: MIT */
/* The learning-rate schedule. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns the number of steps over which the learning rate changes, including the warm-up. */
gint64 lig_run_schedule_steps (const LigRunSettings *settings);

/* Returns the learning rate of optimizer step `step`, counted from 1. */
double lig_run_rate (const LigRunSettings *settings, gint64 step);

/* Returns whether the learning rate decays after the warm-up. */
gboolean lig_run_rate_falls (const LigRunSettings *settings);

/* Returns whether both schedules decay, but over different numbers of steps. */
gboolean lig_run_bends_schedule (const LigRunSettings *before, const LigRunSettings *after);

G_END_DECLS
