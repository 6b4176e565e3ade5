/* SPDX-License-Identifier: MIT */
/* The help texts of `lig` and of its commands. */
#pragma once

#include "app/cli/command.h"

#include <stdio.h>

G_BEGIN_DECLS

/* Appends a command's help text: its usage, summary and options by groups, all of them including
 * those of every command; with `longer` also its notes and example. A verb restricts it to the
 * options of that verb. */
void lig_cli_append_help (GString *to,
                          const LigCommand *command,
                          const LigCliVerb *verb,
                          const GOptionEntry *entries,
                          gboolean longer);

/* Finds a verb of the command, or returns NULL. */
const LigCliVerb *lig_cli_find_verb (const LigCommand *command, const char *name);

/* Returns the titles of the groups in which the entries are listed; (transfer container). */
GPtrArray *lig_cli_list_groups (const GOptionEntry *entries);

/* Returns the title of the group of an entry. */
const char *lig_cli_group_of (const GOptionEntry *entries, const GOptionEntry *entry);

/* Returns whether the verb has the option; every verb has those of every command. */
gboolean lig_cli_verb_has (const LigCliVerb *verb, const char *group, const char *option);

/* Prints the usage of `lig` and its commands. */
void lig_cli_help_all (FILE *file);

/* Print the commands, or the options of one, as a JSON document. */
void lig_cli_print_commands_json (void);
void lig_cli_print_help_json (const LigCommand *command,
                              const LigCliVerb *verb,
                              const GOptionEntry *entries);

/* Finds a command, or returns NULL. */
const LigCommand *lig_cli_find_command (const char *name);

/* Print that a command or a verb is unknown, with the most similar one, and return
 * LIG_EXIT_USAGE. */
int lig_cli_refuse_command (const char *name);
int lig_cli_refuse_verb (const LigCommand *command, const char *name);

/* Moves the options before the command behind it. Returns whether the line has a command. */
gboolean lig_cli_arrange (int argc, char **argv);

/* Prints which of the options without a command is unknown, or that the command is missing, and
 * returns LIG_EXIT_USAGE. */
int lig_cli_refuse_options (char **words);

/* Prints the help text of a command or of its verb, which is null for all of them. */
void lig_cli_print_help (const LigCommand *command, const LigCliVerb *verb);

/* Runs `lig help [COMMAND [VERB]]`; argv[0] is `help`. Returns an exit code. */
int lig_cli_help (int argc, char **argv);

G_END_DECLS
