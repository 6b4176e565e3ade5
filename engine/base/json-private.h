/* SPDX-License-Identifier: MIT */
/* Reads untrusted JSON. json-glib accepts more than JSON (0x10, 010 as 8, comments, numbers that
 * wrap around or become infinite) and recurses as deep as the text nests, so lig_json_read() checks
 * the text first. */
#pragma once

#include <ligature/json.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The maximum nesting depth of arrays and objects, and the maximum number of values. */
#define LIG_JSON_MAX_DEPTH 64
#define LIG_JSON_MAX_VALUES 4000000

/* Parses `text` (UTF-8 without zeros) strictly by RFC 8259; keys must be unique and numbers must
 * fit 64 bits. The error is LIG_ERROR_FORMAT. For a syntax error it begins with `FILE:LINE:COLUMN:
 * ` if `file` is given, else with `line 3, column 5: `; for a rejected value it begins with the
 * value's JSON path, after `FILE: ` if `file` is given. */
JsonNode *lig_json_read (const char *text, gsize length, const char *file, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/* Appends `.key`, or `["key"]` if the key has other characters than letters, digits, `-` and `_`.
 */
void lig_json_append_key (GString *path, const char *key);

/* Appends the string, escaped and in quotes. */
void lig_json_append_string (GString *text, const char *string);

/* Adds a whole number, or its decimal digits as a string if it exceeds a signed 64-bit number. */
void lig_json_add_unsigned (JsonBuilder *to, const char *name, guint64 value);

/* Adds a time, given in microseconds since 1970, in ISO 8601 (UTC), or null for 0 and for a time
 * outside the range of dates. */
void lig_json_add_moment (JsonBuilder *to, const char *name, gint64 when);

/* Adds an array of consecutive whole numbers, such as the indexes of the ops of a group. */
void lig_json_add_range (JsonBuilder *to, const char *name, int first, int count);

/* Returns (transfer full) an element. */
typedef JsonNode *(*LigJsonElement) (guint index, gpointer data);

/* The elements of an array that would be too large to hold in memory. */
typedef struct {
  const char *member; /* whose value is replaced, an empty array */
  guint count;
  LigJsonElement make; /* each element is freed before the next one is made */
  gpointer data;       /* passed to `make` */
} LigJsonElements;

/* Writes a large object piecewise, to keep only a part in memory: the sink receives the parts of
 * the text that lig_json_to_text() would return, in order. */
void lig_json_write (JsonNode *document,
                     const LigJsonElements *elements,
                     LigJsonSink sink,
                     gpointer data);

G_END_DECLS
