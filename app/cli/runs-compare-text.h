/* SPDX-License-Identifier: MIT */
/* The tables of `lig runs compare`. */
#pragma once

#include "app/cli/runs-comparison.h"

G_BEGIN_DECLS

/* Prints the comparison as tables that fit the terminal. */
void lig_runs_print_comparison (const LigRunsComparison *self);

G_END_DECLS
