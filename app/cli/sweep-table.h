/* SPDX-License-Identifier: MIT */
/* The table of a sweep. */
#pragma once

#include <ligature/sweep.h>

G_BEGIN_DECLS

/* Prints the settings and results of all points, the best first. */
void lig_cli_print_sweep (LigSweep *sweep);

G_END_DECLS
