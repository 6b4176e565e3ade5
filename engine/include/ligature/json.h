/* SPDX-License-Identifier: MIT */
/* Strict reading and writing of JSON. json-glib 1.6 by itself does not suffice: it accepts more
 * than JSON, recurses without a depth limit, aborts if a member does not have the requested type,
 * and writes 1e-08 as 1e-08.0. The functions may be called from any thread. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>

G_BEGIN_DECLS

/**
 * lig_json_append:
 * @text: the text to append to
 * @value: a JSON value
 *
 * Appends the value on one line, `{"a": 1, "b": [2, 3]}`, with the fewest digits for each number;
 * infinities and NaN become null.
 */
LIG_API void lig_json_append (GString *text, JsonNode *value);

/**
 * lig_json_from_text:
 * @text: untrusted text, such as a file or a row of the store
 *
 * Reads JSON strictly by RFC 8259: valid UTF-8 of up to 64 MiB, nested up to 64 levels deep, unique
 * keys, numbers that fit into 64 bits.
 *
 * Returns: (transfer full): a value that may be changed, or %NULL with %LIG_ERROR_FORMAT set
 */
LIG_API JsonNode *lig_json_from_text (const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_json_get_string:
 * @object: a JSON object
 * @name: the member's name
 * @fallback: (nullable): the value for a missing member
 *
 * Returns: (transfer none): the member of that name, or @fallback if it is missing or not a string;
 *   the object owns it
 */
LIG_API const char *
lig_json_get_string (JsonObject *object, const char *name, const char *fallback);

/**
 * lig_json_get_array:
 * @object: (nullable): a JSON object
 * @name: the member's name
 *
 * Returns: (transfer none) (nullable): the member of that name, which the object owns; %NULL if it
 *   is missing or not an array
 */
LIG_API JsonArray *lig_json_get_array (JsonObject *object, const char *name);

/**
 * lig_json_get_element:
 * @array: a JSON array
 * @i: an index below its length
 *
 * Returns: (transfer none) (nullable): the element, which the array owns; %NULL if it is not an
 * object
 */
LIG_API JsonObject *lig_json_get_element (JsonArray *array, guint i);

/**
 * lig_json_get_int:
 * @object: a JSON object
 * @name: the member's name
 * @fallback: the value for a missing member
 *
 * Returns: the member of that name, or @fallback if it is missing or not a whole number
 */
LIG_API gint64 lig_json_get_int (JsonObject *object, const char *name, gint64 fallback);

/**
 * lig_json_to_text:
 * @document: a JSON value
 *
 * Returns: (transfer full): the document with indentation, and with the fewest digits for each
 *   number. It is always valid JSON, unlike the output of json-glib 1.6, which writes 1e-8 as
 *   1e-08.0.
 */
LIG_API char *lig_json_to_text (JsonNode *document);

/**
 * LigJsonSink:
 * @text: a part of the text, which ends between two tokens
 * @length: its length in bytes
 * @data: the caller's data
 *
 * Receives the next part of a text.
 */
typedef void (*LigJsonSink) (const char *text, gsize length, gpointer data);

G_END_DECLS
