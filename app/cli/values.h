/* SPDX-License-Identifier: MIT */
/* The values that options and arguments take, asked of the registries, for completions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The word for files in lists of kinds. */
#define LIG_VALUES_FILE "FILE"

/* Returns the kinds and the literal words of a placeholder in a help text, joined by `|`:
 * `DEVICE`, `P|RUN`, `sgd|adamw`; (transfer full), null where it stands for free text. `filename`
 * adds files. */
char *lig_cli_values_kinds (const char *placeholder, gboolean filename);

/* Returns the values of a kind, sorted as its registry has them; (transfer full), null for an
 * unknown kind. */
GStrv lig_cli_values_list (const char *kind);

/* `lig --values KIND`, the arguments that follow: prints the values one a line. Returns an exit
 * code. */
int lig_cli_values_print (int n, char **arguments);

G_END_DECLS
