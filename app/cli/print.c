/* SPDX-License-Identifier: MIT */
#include "app/cli/print.h"

#include "app/cli/live.h"

#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/printable.h>
#include <ligature/units.h>

#include <stdio.h>
#include <string.h>

static gboolean in_lines;

void
lig_cli_request_lines (void)
{
  in_lines = TRUE;
}

void
lig_cli_print (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *line = lig_printable (text);
  lig_cli_live_clear ();
  printf ("%s\n", line);
}

void
lig_cli_print_document (const char *schema, JsonNode *node)
{
  g_return_if_fail (schema);
  lig_cli_print_json (node);
}

void
lig_cli_print_elements (const char *schema, guint count, LigCliElement *make, gpointer data)
{
  g_return_if_fail (schema && make);
  gboolean any = FALSE;
  lig_cli_live_clear ();
  for (guint i = 0; i < count; i++) {
    JsonNode *element = make (i, data);
    if (!element)
      continue;
    g_autoptr (JsonNode) array = json_node_new (JSON_NODE_ARRAY);
    json_node_take_array (array, json_array_new ());
    json_array_add_element (json_node_get_array (array), element);
    lig_json_add_units (array);
    g_autofree char *text = lig_json_to_text (array);
    /* An array of one element prints as its line between the lines of the brackets. */
    printf ("%s%.*s", any ? ",\n" : "[\n", (int) strlen (text) - 4, text + 2);
    any = TRUE;
  }
  printf (any ? "\n]\n" : "[]\n");
}

void
lig_cli_print_part (const char *text, gsize length, gpointer data)
{
  lig_cli_live_clear ();
  fwrite (text, 1, length, stdout);
}

static char *
to_line (JsonNode *node)
{
  GString *text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

void
lig_cli_print_json (JsonNode *node)
{
  lig_json_add_units (node);
  g_autofree char *text = in_lines ? to_line (node) : lig_json_to_text (node);
  lig_cli_live_clear ();
  printf ("%s\n", text);
  if (in_lines)
    fflush (stdout);
  json_node_unref (node);
}
