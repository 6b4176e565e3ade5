/* SPDX-License-Identifier: MIT */
/* Parts that all graphs in Graphviz' language share. */
#pragma once

#include <ligature/plan.h>

/* Begins a graph with its title and the looks of nodes and edges; the caller closes the brace. */
void lig_dot_begin (GString *to, const char *title);

/* Appends a text within quotes, with line breaks written as \n. */
void lig_dot_append_text (GString *to, const char *text);

/* Return the colours of the edge and of the inside of a group of the pass. */
const char *lig_dot_edge_colour (LigPass pass);
const char *lig_dot_inside_colour (LigPass pass);
