/* SPDX-License-Identifier: MIT */
/* Messages on stderr, separate from the output of a command. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Prints a message to stderr: `lig: …`. Control characters are escaped. */
void lig_cli_say (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Does the same even with --quiet, for failures. */
void lig_cli_warn (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* A LigTuningListener that prints the sentence to stderr. */
void lig_cli_listen (const char *text);

G_END_DECLS
