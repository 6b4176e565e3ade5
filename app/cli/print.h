/* SPDX-License-Identifier: MIT */
/* The output of commands on stdout: lines and JSON documents. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Prints a line to stdout; control characters are escaped. */
void lig_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints one JSON document and a newline to stdout; takes the node. Adds the units of numbers whose
 * keys do not name theirs. `schema` names the file in data/doc/schemas that describes the document,
 * without .json; tests/cli/documents.py checks that it does. */
void lig_cli_print_document (const char *schema, JsonNode *node);

/* Returns element `index` of a document, an object (transfer full), or null to omit it. */
typedef JsonNode *LigCliElement (guint index, gpointer data);

/* Prints a document that is an array of `count` objects, one at a time, because there may be very
 * many. */
void lig_cli_print_elements (const char *schema, guint count, LigCliElement *make, gpointer data);

/* Prints the next part of a document that is too large to be one node: a LigJsonSink. */
void lig_cli_print_part (const char *text, gsize length, gpointer data);

/* Prints a document without a schema; takes the node. */
void lig_cli_print_json (JsonNode *node);

/* Prints each document as one line from now on, without buffering. */
void lig_cli_request_lines (void);

G_END_DECLS
