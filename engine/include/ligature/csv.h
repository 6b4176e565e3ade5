/* SPDX-License-Identifier: MIT */
/* Cells of CSV as RFC 4180 has them, safe to open in a spreadsheet. Any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_csv_append_text:
 * @to: the line
 * @text: a cell
 *
 * Appends the text, in quotes where it contains a comma, a quote or a line break. A text that
 * begins with = + - @, a tab or a carriage return and is not a number gets an apostrophe in front,
 * so that no spreadsheet computes it.
 */
LIG_API void lig_csv_append_text (GString *to, const char *text);

/**
 * lig_csv_append_number:
 * @to: the line
 * @value: a cell
 *
 * Appends the fewest digits that read back as the same number, with a point in every locale; `nan`,
 * `inf` or `-inf` where it is not finite.
 */
LIG_API void lig_csv_append_number (GString *to, double value);

G_END_DECLS
