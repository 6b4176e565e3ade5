/* SPDX-License-Identifier: MIT */
#include "app/cli/ops-print.h"

#include "app/cli/table.h"
#include <ligature/columns.h>
#include <ligature/json-members.h>

#include <stdio.h>

/* The columns before a summary. */
enum { NARROW = 4, MIN_SENTENCE = 34 };

void
lig_ops_print_entry (const char *name, int column, const char *sentence)
{
  int width = lig_cli_text_width ();
  gboolean below = width - column < MIN_SENTENCE || lig_columns_width (name) > column - 4;
  int indent = below ? NARROW : column;
  g_autoptr (GString) text = g_string_new ("  ");
  if (below)
    g_string_append_printf (text, "%s\n%*s", name, indent, "");
  else
    lig_columns_append (text, name, column - 2, LIG_SIDE_LEFT);
  lig_columns_wrap (text, sentence, indent, indent, width);
  fputs (text->str, stdout);
}

void
lig_ops_print_title (const char *name, const char *summary)
{
  int width = lig_cli_text_width ();
  g_autoptr (GString) line = g_string_new (name);
  g_autofree char *sentence = g_strconcat (": ", summary, NULL);
  lig_columns_wrap (line, sentence, lig_columns_width (name), 2, width);
  printf ("%s\n", line->str);
}

void
lig_ops_print_line (const char *name, char *text)
{
  g_autofree char *own = text;
  int width = lig_cli_text_width ();
  g_autoptr (GString) line = g_string_new (NULL);
  if (!own || !*own)
    return;
  lig_columns_append (line, name, 12, LIG_SIDE_LEFT);
  lig_columns_wrap (line, own, 12, 12, width);
  fputs (line->str, stdout);
}

void
lig_ops_add_names (JsonBuilder *builder, const char *name, char *list)
{
  g_autofree char *text = list;
  g_auto (GStrv) names = g_strsplit (text, ", ", -1);
  lig_json_begin_array (builder, name);
  for (char **one = names; *one; one++)
    json_builder_add_string_value (builder, *one);
  json_builder_end_array (builder);
}
