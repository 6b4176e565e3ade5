/* SPDX-License-Identifier: MIT */
/* `lig help`, `lig --help`, and unknown commands. */
#pragma once

#include "app/cli/command.h"

#include <stdio.h>

G_BEGIN_DECLS

/* Prints the usage of `lig` and its commands. */
void lig_cli_help_all (FILE *file);

/* Prints that a command is unknown, with the most similar one, and returns LIG_EXIT_USAGE. */
int lig_cli_reject_command (const char *name);

/* Runs `lig help [COMMAND [VERB]]`; argv[0] is `help`. Returns an exit code. */
int lig_cli_help (int argc, char **argv);

G_END_DECLS
