/* SPDX-License-Identifier: MIT */
/* Matches a pattern against the ops from an index on. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/patterns/pattern.h"

/* The maximum number of identities and branches that are skipped between two elements. Without a
 * limit, every op in a long chain of them would walk the rest of the chain. */
#define LIG_MAX_TRANSPARENT 64

/* A walk along the ops, either unchanged or as an edit would change them. */
typedef struct {
  LigGraph *graph;
  const LigFusion *fusion;
  const LigPattern *pattern;
  int at, from; /* first op, and the element that it matches */
  gboolean ignore_fences;
  gboolean see_through; /* skip branches that are used, too */
  int skipped;          /* an op treated as removed, or -1 */
  int replaced;         /* an op treated as `replacement`, or -1 */
  const LigOpInfo *replacement;
  gboolean early;         /* before the gradients are known: ops may have none */
  gboolean see_quantized; /* skip parts that quantize, too */
  int inserted;           /* an element that an inserted op would match, or -1 */
} LigWalk;

typedef struct {
  int elements[LIG_MAX_ELEMENTS];
  int end;         /* one past the last op that was matched */
  int matched;     /* elements */
  int last;        /* element matched last */
  gboolean fenced; /* an element would have matched after a fence */
} LigFound;

/* Returns a walk from an op on, along the unchanged ops. */
LigWalk lig_walk_from (LigGraph *graph, const LigFusion *fusion, int at);

gboolean lig_walk_fits (const LigWalk *walk, int element, int index);

/* Returns whether at least two elements match and no required one is missing. */
gboolean lig_walk_follow (const LigWalk *walk, LigFound *found);

/* Returns whether one of the elements was matched with the op. */
gboolean lig_found_has (const LigFound *found, int index);
