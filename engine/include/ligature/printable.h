/* SPDX-License-Identifier: MIT */
/* Text from files and databases, made safe for a line of a terminal. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_printable:
 * @text: any bytes
 *
 * Escapes what would move the cursor, colour, rename or clear a terminal, begin a new line, or turn
 * the direction of what follows: control characters become `\n`, `\t` or `\x1b`, separators of
 * lines and paragraphs and directions `\u202e`, bytes that are not UTF-8 `\xf0`. All else stays as
 * it is. May be called from any thread.
 *
 * Returns: (transfer full): one line of valid UTF-8
 */
LIG_API char *lig_printable (const char *text) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
