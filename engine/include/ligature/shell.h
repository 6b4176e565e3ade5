/* SPDX-License-Identifier: MIT */
/* Words of command lines. Any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_shell_append:
 * @to: a command line
 * @word: any bytes without zeros
 *
 * Appends a space and the word, quoted only where a shell would read it as anything else.
 */
LIG_API void lig_shell_append (GString *to, const char *word);

/**
 * lig_shell_append_option:
 * @to: a command line
 * @name: of an option, without dashes
 * @value: (nullable): its value; nothing is appended for %NULL
 *
 * Appends ` --NAME VALUE`.
 */
LIG_API void lig_shell_append_option (GString *to, const char *name, const char *value);

G_END_DECLS
