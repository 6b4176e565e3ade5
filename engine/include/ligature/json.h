/* SPDX-License-Identifier: MIT */
/* JSON as it comes from outside and goes there: json-glib 1.6 reads more than JSON, recurses as
 * deep as a text nests, dies of a member of another type than it is asked for, and writes 1e-08 as
 * 1e-08.0. Any thread. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>

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

/**
 * lig_json_get_string:
 *
 * Returns: (transfer none): the member of that name, or @fallback where it is missing or is no
 *   string; the object owns it
 */
LIG_API const char *
lig_json_get_string (JsonObject *object, const char *name, const char *fallback);

/**
 * lig_json_get_int:
 *
 * Returns: the member of that name, or @fallback where it is missing or is no whole number
 */
LIG_API gint64 lig_json_get_int (JsonObject *object, const char *name, gint64 fallback);

/**
 * lig_json_to_text:
 *
 * Returns: (transfer full): the document in lines, indented, the fewest digits for each number.
 *   Unlike json-glib 1.6, which makes 1e-08.0 of 1e-8, it writes nothing but JSON.
 */
LIG_API char *lig_json_to_text (JsonNode *document);

G_END_DECLS
