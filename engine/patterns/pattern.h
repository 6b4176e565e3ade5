/* SPDX-License-Identifier: MIT */
/* The pattern of a fusion, parsed once when the fusion is registered. */
#pragma once

#include <ligature/fusion.h>

typedef struct {
  GStrv names;    /* names of ops that match */
  unsigned flags; /* any op with one of these LigOpFlags matches too */
  gboolean optional;
} LigElement;

typedef struct {
  int n_elements;
  LigElement elements[LIG_MAX_ELEMENTS];
} LigPattern;

gboolean lig_pattern_parse (const char *text, LigPattern *pattern, GError **error);

/* Returns whether an op matches the element. */
gboolean lig_element_fits (const LigElement *element, const LigOpInfo *info);

/* Returns (transfer container) the names accepted at element `from`: those of the optional elements
 * up to and including the next required one, except ops that recipes insert. The names are
 * static. */
const char **lig_pattern_accepted (const LigPattern *pattern, int from);

/* Returns the parsed pattern of a registered fusion. */
const LigPattern *lig_fusion_get_pattern (const LigFusion *fusion);
