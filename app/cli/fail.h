/* SPDX-License-Identifier: MIT */
/* Errors of commands: messages on stderr, JSON documents on stdout, exit codes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Exit codes of every command. */
enum { LIG_EXIT_OK = 0, LIG_EXIT_FAILED = 1, LIG_EXIT_USAGE = 2, LIG_EXIT_INTERRUPTED = 130 };

/* Prints the error, `lig: MESSAGE` to stderr, with --json also {"error":{"code","message","path"}}
 * to stdout, frees it, and returns LIG_EXIT_FAILED (or LIG_EXIT_INTERRUPTED when cancelled). */
int lig_cli_fail (GError *error);

/* Does the same for a wrong command line and returns LIG_EXIT_USAGE. */
int lig_cli_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Returns the error's message with its setting as an option: `give --steps` for `set steps`;
 * (transfer full). */
char *lig_cli_phrase (const GError *error);

/* Return the exit code of lig_cli_fail(), and the error's code in JSON. */
int lig_cli_exit_code (const GError *error);
const char *lig_cli_code_name (const GError *error);

/* Prints the JSON document of a failure, if --json was given. */
void lig_cli_print_failure (const char *code, const char *message, const char *path);

G_END_DECLS
