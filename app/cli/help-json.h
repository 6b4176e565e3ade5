/* SPDX-License-Identifier: MIT */
/* The help texts as JSON documents. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* Print the commands, or the options of one, as a JSON document. */
void lig_cli_print_commands_json (void);
void lig_cli_print_help_json (const LigCommand *command,
                              const LigCliVerb *verb,
                              const GOptionEntry *entries);

G_END_DECLS
