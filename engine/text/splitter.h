/* SPDX-License-Identifier: MIT */
/* Splits text into the pieces that are encoded one by one: words with the space before them,
 * numbers, punctuation. A pattern does it, which the file of the tokenizer has in the syntax of
 * Oniguruma; PCRE2 matches it. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* The pattern of GPT-2, which a pre-tokenizer ByteLevel has by itself. */
#define LIG_SPLIT_GPT2 \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/* Compiles a pattern in Oniguruma's syntax. Everything that PCRE2 would understand differently is
 * rejected. Returns null and the reason in `problem` (transfer full) if it is not supported. */
GRegex *lig_split_compile (const char *pattern, char **problem);

/* Compiles the pattern that matches a text literally. */
GRegex *lig_split_compile_text (const char *text);

/* Receives a piece, or sets an error and returns false. */
typedef gboolean (*LigSplitPiece) (const char *piece, gsize length, gpointer data, GError **error);

/* Passes on the matches of the pattern and the parts between them, in order; empty ones are
 * omitted. The text must be UTF-8 and may have zero bytes. The error is LIG_ERROR_FORMAT. */
gboolean lig_split_text (GRegex *pattern,
                         const char *text,
                         gsize length,
                         LigSplitPiece piece,
                         gpointer data,
                         GError **error);

/* Returns whether a character is white space in the sense of Unicode and Oniguruma's \s. */
gboolean lig_split_is_space (gunichar character);

G_END_DECLS
