/* SPDX-License-Identifier: MIT */
/* The options and arguments of all commands, from which the manual page and the shell completions
 * are made. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

/* A command with its options. */
typedef struct {
  const LigCommand *command;
  GArray *entries;   /* GOptionEntry, without the lines of groups; texts are owned by the page */
  GPtrArray *groups; /* the title of each entry's group */
  GPtrArray *titles; /* the titles of all groups, in their order */
  GPtrArray *texts;
  GStrv positions; /* the kinds of its arguments; the last one applies to all further arguments */
} LigCliPage;

/* Returns the LigCliPage of each command; (transfer full). */
GPtrArray *lig_cli_pages (void);

/* Returns the kinds of the arguments of a usage such as `P|RUN -o FILE`: of the words before the
 * first option. The last one applies to all further arguments; it is `-`, which has no values,
 * unless the last word ends with an ellipsis. */
GStrv lig_cli_read_positions (const char *usage);

/* Appends the long options of a verb, each with a separator before it. */
void lig_cli_append_options (GString *to,
                             const LigCliPage *page,
                             const LigCliVerb *verb,
                             const char *separator);

/* Calls `append` for each option of each command. */
void lig_cli_for_each_option (GString *to,
                              GPtrArray *pages,
                              void (*append) (GString *to,
                                              const LigCliPage *page,
                                              const GOptionEntry *entry));

/* Returns the names of the commands joined by the separator; (transfer full). */
char *lig_cli_join_commands (const char *separator);

/* Returns the kinds of an option's values as lig_cli_values_kinds() does. */
char *lig_cli_get_kinds (const GOptionEntry *entry);

G_END_DECLS
