/* SPDX-License-Identifier: MIT */
/* Reading JSON beyond json-glib, which reads more than
 * JSON (0x10, 010 as 8, comments, numbers that wrap around or become infinite) and recurses as deep
 * as the text does, so what comes from outside passes lig_json_read(). */
#pragma once

#include <ligature/json.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* How deep arrays and objects nest, and how many values there are. */
#define LIG_JSON_MAX_DEPTH 64
#define LIG_JSON_MAX_VALUES 4000000

/* The value that `text` (UTF-8 without zeros) is, by RFC 8259 to the letter; keys occur once,
 * numbers fit 64 bits. An error is LIG_ERROR_FORMAT: with `file` it begins `FILE:LINE:COLUMN: `,
 * else `line 3, column 5: `; or it begins with the JSON path (and `FILE: `) of what is refused. */
JsonNode *lig_json_read (const char *text, gsize length, const char *file, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/* Appends `.key` or, where the key is no plain word, `["key"]`. */
void lig_json_append_key (GString *path, const char *key);

/* Appends the string with its quotes. */
void lig_json_append_string (GString *text, const char *string);

G_END_DECLS
