/* SPDX-License-Identifier: MIT */
/* The schedule of the learning rate. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Returns the number of steps over which the learning rate changes, the warm-up included. */
gint64 lig_run_schedule_steps (const LigRunSettings *settings);

/* Returns the learning rate of optimizer step `step`, from 1. */
double lig_run_rate (const LigRunSettings *settings, gint64 step);

/* Returns whether the learning rate falls after the warm-up. */
gboolean lig_run_rate_falls (const LigRunSettings *settings);

/* Returns whether both have a schedule that falls, but over another number of steps. */
gboolean lig_run_bends_schedule (const LigRunSettings *before, const LigRunSettings *after);

G_END_DECLS
