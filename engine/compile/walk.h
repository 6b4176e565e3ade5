/* SPDX-License-Identifier: MIT */
/* Following a pattern along the ops from one index on. */
#pragma once

#include "engine/compile/draft.h"
#include "engine/compile/pattern.h"

/* The most identities and branches that are looked through between two elements: else every op of a
 * long chain of them would look along the rest of it. */
#define LIG_MOST_TRANSPARENT 64

/* The ops are followed as they are, or as an edit would make them. */
typedef struct {
  LigDraft *draft;
  const LigFusion *fusion;
  const LigPattern *pattern;
  int at, from; /* first op, the element that it fits */
  gboolean ignore_fences;
  gboolean see_through; /* also through branches that are used */
  int skipped;          /* an op taken for removed, or -1 */
  int replaced;         /* an op taken for `replacement`, or -1 */
  const LigOpInfo *replacement;
  int inserted; /* an element that an inserted op would fit, or -1 */
} LigWalk;

typedef struct {
  int elements[LIG_MAX_ELEMENTS];
  int end;         /* one past the last op that was matched */
  int matched;     /* elements */
  int last;        /* element matched last */
  gboolean fenced; /* an element would have fitted behind a fence */
} LigFound;

/* Whether the caller or a later op reads an extra output of the op. */
gboolean lig_branch_is_used (const LigPart *part);

gboolean lig_walk_fits (const LigWalk *walk, int element, int index);

/* Whether at least two elements match and no required one is missing. */
gboolean lig_walk_follow (const LigWalk *walk, LigFound *found);

/* Whether one of the elements was matched with the op. */
gboolean lig_found_has (const LigFound *found, int index);
