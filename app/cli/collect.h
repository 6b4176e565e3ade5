/* SPDX-License-Identifier: MIT */
/* The options of a command, for the help texts, the manual page and the completions. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* Receives a command's options, null-terminated, including the group lines and the options of every
 * command. */
typedef void (*LigCliCollector) (const LigCommand *command,
                                 const GOptionEntry *entries,
                                 gpointer data);

/* Calls the collector with the options of the command, without running it. */
void lig_cli_collect (const LigCommand *command, LigCliCollector collector, gpointer data);

/* Gives the options to the collector of a lig_cli_collect() that runs this command. Returns FALSE
 * if the command is run for another reason. */
gboolean lig_cli_hand_over (const LigCommand *command, const GOptionEntry *entries);

G_END_DECLS
