/* SPDX-License-Identifier: MIT */
/* The options before the command. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Moves options that precede the command after it. Returns whether the line has a command. */
gboolean lig_cli_arrange (int argc, char **argv);

/* Prints which option is unknown, or that the command is missing, and returns LIG_EXIT_USAGE. */
int lig_cli_reject_options (char **words);

G_END_DECLS
