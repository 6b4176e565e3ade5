/* SPDX-License-Identifier: MIT */
/* Text in columns of a terminal or a page. All widths are columns as a terminal shows them: a wide
 * East Asian character takes two, a combining mark none.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigSide:
 * @LIG_SIDE_LEFT: the text begins its column
 * @LIG_SIDE_RIGHT: the text ends its column, as numbers do
 *
 * The side of a column at which its texts begin or end.
 */
typedef enum { LIG_SIDE_LEFT, LIG_SIDE_RIGHT } LigSide;

/**
 * lig_columns_width:
 * @text: one line of text
 *
 * Returns: the number of columns that the text takes
 */
LIG_API int lig_columns_width (const char *text);

/**
 * lig_columns_elide:
 * @text: one line of text
 * @width: the maximum number of columns, at least 1
 *
 * Returns: (transfer full): the text, with its middle replaced by `…` if it is too wide
 */
LIG_API char *lig_columns_elide (const char *text, int width) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_columns_append:
 * @to: a string
 * @text: one line of text
 * @width: the columns to fill
 * @side: the side of the column at which the text begins or ends
 *
 * Appends the text, elided or padded with spaces to exactly @width columns.
 */
LIG_API void lig_columns_append (GString *to, const char *text, int width, LigSide side);

/**
 * lig_columns_wrap:
 * @to: a string that ends with the beginning of the first line
 * @text: a sentence
 * @at: the number of columns already used on the first line
 * @indent: the number of spaces before each further line
 * @width: the maximum number of columns of a line
 *
 * Appends the sentence, broken between words, and ends the last line. A word that is wider than a
 * line is broken inside.
 */
LIG_API void lig_columns_wrap (GString *to, const char *text, int at, int indent, int width);

G_END_DECLS
