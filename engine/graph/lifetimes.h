/* SPDX-License-Identifier: MIT */
/* Lifetimes of values. */
#pragma once

#include "engine/graph/graph.h"

/* Returns whether the value lives in the arena, for some steps, and not in the state. */
gboolean lig_value_in_arena (const LigPlanValue *value);

/* Returns the extents of the values in the arena, LigExtent, and for each value the index of its
 * extent, or -1. Sets the lifetimes of values. */
GArray *lig_find_extents (LigGraph *graph, int *numbers);

/* Returns the bytes that are alive at each step, and their maximum. */
gint64 *lig_sum_extents (const LigGraph *graph, const GArray *extents, gint64 *peak);
