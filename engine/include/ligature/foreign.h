/* SPDX-License-Identifier: MIT */
/* Types of other libraries that a few functions take or return. Only a program that uses their
 * contents has to include <json-glib/json-glib.h> or <cairo.h> and link these libraries. */
#pragma once

typedef struct _JsonBuilder JsonBuilder;
typedef struct _JsonNode JsonNode;
typedef struct _JsonArray JsonArray;
typedef struct _JsonObject JsonObject;
typedef struct _cairo cairo_t;
