/* SPDX-License-Identifier: MIT */
/* The search of `lig ops WORD`. */
#pragma once

/* Prints the ops and fusions whose name or summary contains all words. Returns an exit code. */
int lig_ops_search (char **words);
