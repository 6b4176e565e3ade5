/* SPDX-License-Identifier: MIT */
/* Generates the manual page and the shell completions from the tables of the commands. */
#pragma once

#include "app/cli/pages.h"

G_BEGIN_DECLS

/* Append the manual page lig.1 and the completions. Completions call `lig --values KIND` while the
 * user types, so that a new op or device is offered at once. */
void lig_cli_append_manual (GString *to, GPtrArray *pages);
void lig_cli_append_bash (GString *to, GPtrArray *pages);
void lig_cli_append_zsh (GString *to, GPtrArray *pages);
void lig_cli_append_fish (GString *to, GPtrArray *pages);

/* Runs `lig --generate man|bash|zsh|fish`: prints the manual page or the completions of a shell.
 * `arguments` are those after --generate. Returns an exit code. */
int lig_cli_print_text (int n, char **arguments);

G_END_DECLS
