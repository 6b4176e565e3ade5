/* SPDX-License-Identifier: MIT */
/* The parts of `lig verify`. */
#pragma once

#include "app/cli/command.h"
#include <ligature/verification.h>

G_BEGIN_DECLS

/* Prints the result for a plan, as a table or as JSON. */
void lig_cli_print_verification (LigPlan *plan, const LigVerification *found);

/* Compares the parameters of a checkpoint with those of a file or folder for another program, and
 * prints the result. Returns an exit code; LIG_EXIT_FAILED if a parameter exceeds its limit, or
 * with an error set. */
int lig_cli_verify_weights (const char *checkpoint, const char *folder, GError **error);

G_END_DECLS
