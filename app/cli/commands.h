/* SPDX-License-Identifier: MIT */
/* The commands of `lig`. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* Returns the commands in the order of the help text, NULL after the last. */
const LigCommand *lig_cli_command_nth (guint n);

/* Finds a command, or returns NULL. */
const LigCommand *lig_cli_find_command (const char *name);

G_END_DECLS
