/* SPDX-License-Identifier: MIT */
/* Suggestions for mistyped names. The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_suggest:
 * @word: the mistyped name
 * @candidates: (array zero-terminated=1): the known names
 *
 * Finds the candidate that is most similar to the word: one that differs only in case or in `_` for
 * `-`, then one that begins with the word, then the one with the fewest edits. An edit inserts,
 * removes or replaces a character or swaps two neighbours; at most a third of the longer name may
 * be edited, or half of it if the word only omits letters. Among candidates with equally many
 * edits, one from which the word only omits letters is preferred, otherwise the first.
 *
 * Returns: (nullable) (transfer none): one of the candidates, %NULL if none is similar
 */
LIG_API const char *lig_suggest (const char *word, const char *const *candidates);

/**
 * lig_suggest_ending:
 * @word: the mistyped name
 * @candidates: (array zero-terminated=1): the known names
 *
 * Returns the end of an error message, such as `; did you mean 'gelu'?`.
 *
 * Returns: (transfer full): the translated end, empty if no candidate is similar
 */
LIG_API char *lig_suggest_ending (const char *word, const char *const *candidates);

G_END_DECLS
