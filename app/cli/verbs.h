/* SPDX-License-Identifier: MIT */
/* The verbs of a command, such as `show` of `lig runs`. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* Finds a verb of the command, or returns NULL. */
const LigCliVerb *lig_cli_find_verb (const LigCommand *command, const char *name);

/* Returns whether the verb has the option; every verb has those of every command. */
gboolean lig_cli_verb_has (const LigCliVerb *verb, const char *group, const char *option);

/* Returns the verb that other programs call by this name, or the name. */
const char *lig_cli_translate_verb (const char *name);

/* Prints that a verb is unknown, with the most similar one, and returns LIG_EXIT_USAGE. */
int lig_cli_reject_verb (const LigCommand *command, const char *name);

/* Returns the names of the verbs joined by the separator; (transfer full). */
char *lig_cli_join_verbs (const LigCommand *command, const char *separator);

G_END_DECLS
