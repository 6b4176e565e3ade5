/* SPDX-License-Identifier: MIT */
/* The values of options and arguments, read from the registries, for completions. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The word for files in lists of kinds. */
#define LIG_VALUES_FILE "FILE"

/* Returns the kinds and the literal words of a placeholder in a help text, joined by `|`:
 * `DEVICE`, `P|RUN`, `sgd|adamw`; (transfer full), NULL for free text. `filename` adds files. */
char *lig_cli_values_kinds (const char *placeholder, gboolean filename);

/* Returns the values of a kind in the order of its registry; (transfer full), NULL for an unknown
 * kind. */
GStrv lig_cli_values_list (const char *kind);

/* Returns the words as a choice, `none, all or measured`; (transfer full). */
char *lig_cli_values_join (const char *const *words);

/* Runs `lig --values KIND`: prints the values, one on each line. `arguments` are those after
 * --values. Returns an exit code. */
int lig_cli_values_print (int n, char **arguments);

G_END_DECLS
