/* SPDX-License-Identifier: MIT */
/* Parts shared by all graphs in Graphviz' language. */
#pragma once

#include <ligature/plan.h>

/* Begins a graph with its title and the styles of nodes and edges; the caller closes the brace. */
void lig_dot_begin (GString *to, const char *title);

/* Appends a text within quotes, with line breaks written as \n. */
void lig_dot_append_text (GString *to, const char *text);

/* Return the border colour and the fill colour of a group of the pass. */
const char *lig_dot_edge_colour (LigPass pass);
const char *lig_dot_inside_colour (LigPass pass);
