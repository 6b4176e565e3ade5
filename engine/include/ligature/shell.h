/* SPDX-License-Identifier: MIT */
/* Command lines, built word by word and quoted for a shell. The functions may be called from any
 * thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_shell_append:
 * @to: the command line to append to
 * @word: a word of any bytes but zero
 *
 * Appends a space and the word, quoted if a shell would interpret it.
 */
LIG_API void lig_shell_append (GString *to, const char *word);

/**
 * lig_shell_append_option:
 * @to: the command line to append to
 * @name: the name of an option, without dashes
 * @value: (nullable): its value; nothing is appended for %NULL
 *
 * Appends ` --NAME VALUE`.
 */
LIG_API void lig_shell_append_option (GString *to, const char *name, const char *value);

G_END_DECLS
