/* SPDX-License-Identifier: MIT */
/* Types of other libraries that a few functions take or return. Only a program that looks inside
 * them includes <json-glib/json-glib.h> or <cairo.h> and links with these libraries. */
#pragma once

typedef struct _JsonBuilder JsonBuilder;
typedef struct _JsonNode JsonNode;
typedef struct _JsonObject JsonObject;
typedef struct _cairo cairo_t;
