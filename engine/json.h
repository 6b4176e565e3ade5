/* SPDX-License-Identifier: MIT */
/* JSON of Ligature's programs, beyond json-glib: it reads more than JSON and recurses as deep as a
 * text does, and 1.6 writes 1e-08 as 1e-08.0; so what comes in and what goes out passes here. */
#pragma once

#include "engine/error.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * lig_json_append:
 *
 * Appends the value on one line, `{"a": 1, "b": [2, 3]}`, the fewest digits for each number; what
 * is infinite or not a number becomes null.
 */
LIG_API void lig_json_append (GString *text, JsonNode *value);

/**
 * lig_json_from_text:
 * @text: from anywhere, a file or a row of the store
 *
 * Reads JSON by RFC 8259 to the letter: valid UTF-8 of up to 64 MiB, nested up to 64 deep, keys
 * that occur once, numbers that fit 64 bits.
 *
 * Returns: (transfer full): a value that may be changed, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API JsonNode *lig_json_from_text (const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
