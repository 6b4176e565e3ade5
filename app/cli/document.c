/* SPDX-License-Identifier: MIT */
/* Shapes and tensors in the JSON documents and the lines that commands print. */
#include "app/cli/document.h"

#include <json-glib/json-glib.h>

void
lig_cli_add_shape (JsonBuilder *to, const char *name, const LigShape *shape)
{
  if (name)
    json_builder_set_member_name (to, name);
  json_builder_begin_array (to);
  for (int i = 0; i < shape->n_axes; i++)
    json_builder_add_int_value (to, shape->axes[i]);
  json_builder_end_array (to);
}

void
lig_cli_add_tensor (JsonBuilder *to, const char *name, const LigShape *shape, LigDtype dtype)
{
  if (name)
    json_builder_set_member_name (to, name);
  json_builder_begin_object (to);
  lig_cli_add_shape (to, "shape", shape);
  lig_json_add_text (to, "dtype", lig_dtype_name (dtype));
  json_builder_end_object (to);
}

char *
lig_cli_format_tensor (const LigShape *shape, LigDtype dtype)
{
  g_autofree char *text = lig_shape_to_string (shape);
  return g_strconcat (text, ":", lig_dtype_name (dtype), NULL);
}
