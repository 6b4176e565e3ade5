/* SPDX-License-Identifier: MIT */
/* The libraries of backends in `lig devices`, as text and JSON. */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Adds the member `library_files` if the backend with that name, or of that device, has libraries,
 * even if none of its devices works. */
void lig_cli_add_libraries (JsonBuilder *builder, const char *name);

/* Prints a line for each of them. */
void lig_cli_print_libraries (const char *name);

G_END_DECLS
