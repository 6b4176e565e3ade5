/* SPDX-License-Identifier: MIT */
/* Text from files and databases, made safe for one line of a terminal. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_printable:
 * @text: any bytes
 *
 * Escapes every character that could control a terminal, begin a new line, or change the direction
 * of text: control characters become `\n`, `\t` or `\x1b`, line and paragraph separators and
 * directional marks `\u202e`, invalid UTF-8 `\xf0`. Other characters are left unchanged. May be
 * called from any thread.
 *
 * Returns: (transfer full): one line of valid UTF-8
 */
LIG_API char *lig_printable (const char *text) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
