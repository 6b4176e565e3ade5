/* SPDX-License-Identifier: MIT */
/* The help texts of commands, and the groups of their options. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* Prints a command's help text, or with --json its document: usage, summary and all options by
 * group, including those of every command; with `longer` also notes and an example. A verb
 * (nullable) restricts it to the options of that verb. */
void lig_cli_print_options (const LigCommand *command,
                            const LigCliVerb *verb,
                            const GOptionEntry *entries,
                            gboolean longer);

/* Does the same with the command's own option table, and with its notes and example. */
void lig_cli_print_help (const LigCommand *command, const LigCliVerb *verb);

/* Returns the titles of the groups in which the entries are listed; (transfer container). */
GPtrArray *lig_cli_list_groups (const GOptionEntry *entries);

/* Returns the title of the group of an entry. */
const char *lig_cli_group_of (const GOptionEntry *entries, const GOptionEntry *entry);

G_END_DECLS
