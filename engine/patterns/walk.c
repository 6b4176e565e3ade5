/* SPDX-License-Identifier: MIT */
/* Matches a pattern against the ops from an index on. */
#include "engine/patterns/walk.h"

#include "engine/graph/op.h"

/* Returns whether the pattern continues after the part. */
static gboolean
is_skipped (const LigWalk *walk, const LigPart *part)
{
  return lig_part_is_transparent (part, walk->fusion->pass) ||
         (walk->see_quantized && part->plan.implicit);
}

LigWalk
lig_walk_from (LigGraph *graph, const LigFusion *fusion, int at)
{
  return (LigWalk){.graph = graph,
                   .fusion = fusion,
                   .pattern = lig_fusion_get_pattern (fusion),
                   .at = at,
                   .skipped = -1,
                   .replaced = -1,
                   .inserted = -1};
}

gboolean
lig_walk_fits (const LigWalk *walk, int element, int index)
{
  const LigPart *part = lig_part (walk->graph, index);
  if (walk->fusion->pass != LIG_PASS_FORWARD && !part->plan.needs_backward && !walk->early)
    return FALSE;
  if (index == walk->skipped || (part->plan.implicit && is_skipped (walk, part)))
    return FALSE;
  return !part->plan.info->opaque_forward && !lig_part_loads_branch (part) &&
         lig_element_fits (&walk->pattern->elements[element],
                           index == walk->replaced ? walk->replacement : part->plan.info);
}

/* Returns the op that matches the element, skipping identities and unused branches; -1 for none. */
static int
next_fit (const LigWalk *walk, int element, int index)
{
  int end = MIN (index + LIG_MAX_TRANSPARENT, (int) walk->graph->parts->len);
  for (; index < end; index++) {
    const LigPart *part = lig_part (walk->graph, index);
    if (lig_walk_fits (walk, element, index))
      return index;
    if (index == walk->skipped)
      continue;
    if (!is_skipped (walk, part) || (lig_branch_is_used (part) && !walk->see_through))
      return -1;
  }
  return -1;
}

static gboolean
fence_between (const LigWalk *walk, int from, int to)
{
  for (int i = from; i <= to; i++)
    if (lig_part (walk->graph, i)->plan.fence)
      return TRUE;
  return FALSE;
}

gboolean
lig_walk_follow (const LigWalk *walk, LigFound *found)
{
  *found = (LigFound){.end = walk->at + 1, .matched = 1, .last = walk->from};
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    found->elements[i] = -1;
  found->elements[walk->from] = walk->at;
  for (int element = walk->from + 1; element < walk->pattern->n_elements; element++) {
    if (element == walk->inserted) {
      found->matched++;
      found->last = element;
      continue;
    }
    int index = next_fit (walk, element, found->end);
    if (index >= 0 && !walk->ignore_fences && fence_between (walk, found->end, index)) {
      found->fenced = TRUE;
      index = -1;
    }
    if (index >= 0) {
      found->elements[element] = index;
      found->end = index + 1;
      found->matched++;
      found->last = element;
    } else if (!walk->pattern->elements[element].optional) {
      return FALSE;
    }
  }
  return found->matched >= 2;
}

gboolean
lig_found_has (const LigFound *found, int index)
{
  for (int i = 0; i < LIG_MAX_ELEMENTS; i++)
    if (found->elements[i] == index)
      return TRUE;
  return FALSE;
}
