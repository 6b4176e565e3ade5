/* SPDX-License-Identifier: MIT */
/* Members of JSON documents in the form that commands and reports share: null for missing values,
 * text in valid UTF-8. Each function must be called from the thread that owns the builder. */
#pragma once

#include <ligature/error.h>
#include <ligature/foreign.h>

G_BEGIN_DECLS

/**
 * lig_json_add_text:
 * @to: a builder within an object
 * @name: the member's name
 * @value: (nullable): any bytes; invalid UTF-8 is replaced
 *
 * Adds a string, or null for %NULL.
 */
LIG_API void lig_json_add_text (JsonBuilder *to, const char *name, const char *value);

/**
 * lig_json_add_integer:
 * @to: a builder within an object
 * @name: the member's name
 * @value: the number
 *
 * Adds a whole number.
 */
LIG_API void lig_json_add_integer (JsonBuilder *to, const char *name, gint64 value);

/**
 * lig_json_add_number:
 * @to: a builder
 * @name: (nullable): the member's name; %NULL within an array
 * @value: the number
 *
 * Adds a floating-point number, or null if it is infinite or NaN.
 */
LIG_API void lig_json_add_number (JsonBuilder *to, const char *name, double value);

/**
 * lig_json_add_truth:
 * @to: a builder within an object
 * @name: the member's name
 * @value: the truth value
 *
 * Adds true or false.
 */
LIG_API void lig_json_add_truth (JsonBuilder *to, const char *name, gboolean value);

/**
 * lig_json_add_document:
 * @to: a builder within an object
 * @name: the member's name
 * @text: JSON, any other text, or ""
 *
 * Adds the parsed value of JSON text; other text as a string; null for empty text.
 */
LIG_API void lig_json_add_document (JsonBuilder *to, const char *name, const char *text);

/**
 * lig_json_begin_object:
 * @to: a builder within an object
 * @name: the member's name
 *
 * Begins a member that is an object; json_builder_end_object() ends it.
 */
LIG_API void lig_json_begin_object (JsonBuilder *to, const char *name);

/**
 * lig_json_begin_array:
 * @to: a builder within an object
 * @name: the member's name
 *
 * Begins a member that is an array; json_builder_end_array() ends it.
 */
LIG_API void lig_json_begin_array (JsonBuilder *to, const char *name);

/**
 * lig_json_add_units:
 * @document: a document, or an array of documents
 *
 * Adds the member `units` to a document with numbers whose keys do not name their unit: an object
 * with the unit of each such key, such as `"memory": "B"`. In an array each object gets its own.
 * Units are B, B/s, FLOP/s, s and us.
 */
LIG_API void lig_json_add_units (JsonNode *document);

G_END_DECLS
