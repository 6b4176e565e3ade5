/* SPDX-License-Identifier: MIT */
/* The progress and the result of a training run on the command line. */
#pragma once

#include "app/cli/command.h"
#include <ligature/run.h>
#include <ligature/sweep.h>

/* Starts the run and shows its progress until it ends; Ctrl+C interrupts it. */
void lig_cli_watch_run (LigRun *run);

/* Does the same for a point of a sweep; the line begins with the sweep's progress. */
void lig_cli_watch_sweep (LigRun *run, LigSweep *sweep, int point);

/* Prints the last lines to stdout, or to stderr: losses, speed, the checkpoint, the commands that
 * show and continue the run in `store` (nullable). With --quiet stdout gets nothing but the uuid.
 */
void lig_cli_print_outcome (LigRun *run, const char *store, gboolean to_stderr);
