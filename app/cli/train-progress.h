/* SPDX-License-Identifier: MIT */
/* What a person sees of a training on the command line. */
#pragma once

#include "app/cli/command.h"
#include <ligature/run.h>

/* Starts the run and shows its progress until it ends; Ctrl+C interrupts it. */
void lig_cli_watch_run (LigRun *run);

/* The last lines: losses, speed, where the run is stored, what to try next. */
void lig_cli_print_outcome (LigRun *run);
