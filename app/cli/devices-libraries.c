/* SPDX-License-Identifier: MIT */
/* The libraries of backends in `lig devices`. */
#include "app/cli/devices-libraries.h"
#include <ligature/device.h>

#include "app/cli/print.h"
#include <ligature/json-members.h>

static void
add_library (JsonBuilder *builder, const LigLibrary *library)
{
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "library", library->name);
  lig_json_add_text (builder, "version", *library->version ? library->version : NULL);
  lig_json_add_text (builder, "path", *library->path ? library->path : NULL);
  lig_json_add_text (builder, "reason", *library->reason ? library->reason : NULL);
  lig_json_add_text (builder, "cost", *library->cost ? library->cost : NULL);
  json_builder_end_object (builder);
}

void
lig_cli_add_libraries (JsonBuilder *builder, const char *name)
{
  LigLibrary library;
  if (!lig_backend_get_library (name, 0, &library))
    return;
  lig_json_begin_array (builder, "library_files");
  for (guint n = 0; lig_backend_get_library (name, n, &library); n++)
    add_library (builder, &library);
  json_builder_end_array (builder);
}

void
lig_cli_print_libraries (const char *name)
{
  LigLibrary library;
  for (guint n = 0; lig_backend_get_library (name, n, &library); n++) {
    g_autofree char *text = lig_library_to_text (&library);
    lig_cli_print ("%s", text);
  }
}
