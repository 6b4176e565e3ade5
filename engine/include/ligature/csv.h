/* SPDX-License-Identifier: MIT */
/* Cells of CSV files (RFC 4180) that are safe to open in a spreadsheet. The functions may be called
 * from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_csv_append_text:
 * @to: the line to append to
 * @text: the cell's text
 *
 * Appends the text, in quotes if it contains a comma, a quote or a line break. A text that begins
 * with = + - @, a tab or a carriage return and is not a number is prefixed with an apostrophe, so
 * that no spreadsheet evaluates it as a formula.
 */
LIG_API void lig_csv_append_text (GString *to, const char *text);

/**
 * lig_csv_append_number:
 * @to: the line to append to
 * @value: the cell's number
 *
 * Appends the fewest digits that read back as the same number, with a point in every locale; `nan`,
 * `inf` or `-inf` if it is not finite.
 */
LIG_API void lig_csv_append_number (GString *to, double value);

G_END_DECLS
