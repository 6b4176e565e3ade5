/* SPDX-License-Identifier: MIT */
/* The signals of a run. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Add the signals to the class of runs; start emitting them; emit the last ones, from any thread;
 * stop. */
void lig_run_add_signals (GType run);
void lig_run_watch (LigRun *self);
void lig_run_announce_end (LigRun *self);
void lig_run_unwatch (LigRun *self);

G_END_DECLS
