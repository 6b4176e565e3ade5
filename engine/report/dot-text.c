/* SPDX-License-Identifier: MIT */
/* Text in Graphviz' language. */
#include "engine/report/dot.h"

void
lig_dot_append_text (GString *to, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  for (const char *at = valid; *at; at++) {
    if (*at == '"' || *at == '\\')
      g_string_append_c (to, '\\');
    if (*at == '\n')
      g_string_append (to, "\\n");
    else
      g_string_append_c (to, g_ascii_iscntrl (*at) ? ' ' : *at);
  }
}

void
lig_dot_begin (GString *to, const char *title)
{
  g_string_append (to, "digraph plan {\n  label=\"");
  lig_dot_append_text (to, title);
  g_string_append (to, "\"; labelloc=t; fontname=\"sans-serif\";\n"
                       "  node [shape=box; style=\"rounded,filled\"; fillcolor=white;"
                       " color=\"#5a5860\"; fontname=\"sans-serif\"; fontsize=11];\n"
                       "  edge [color=\"#5a5860\"; fontname=\"sans-serif\"; fontsize=10];\n");
}

const char *
lig_dot_edge_colour (LigPass pass)
{
  return pass == LIG_PASS_FORWARD ? "#1a5fb4" : "#17694a";
}

const char *
lig_dot_inside_colour (LigPass pass)
{
  return pass == LIG_PASS_FORWARD ? "#e4eefb" : "#e3f4ea";
}
