/* SPDX-License-Identifier: MIT */
/* The parts of the parameters that each rank of a data-parallel group updates, so that only it has
 * their optimizer state (Rajbhandari and others, “ZeRO”, 2020, stage 1). */
#pragma once

#include "engine/graph/graph.h"

/* Returns the ranges of trained parameters that are communicated at once, the last in the arrays
 * first. A range ends once it fills a bucket of elements of the type, where a parameter begins or,
 * with a sharded update, at the next multiple of the shares; (transfer full), of LigElements. */
GArray *lig_shard_gradients (const LigGraph *graph, LigDtype dtype);

/* Returns the ranks that have the same parameters of a range. */
LigRankGroup lig_range_group (const LigGraph *graph, LigElements range);

/* Returns the number of elements of which ranges are multiples. */
gint64 lig_share_unit (const LigGraph *graph);

/* Runs after the parameters are placed: shards their update over the ranks if the options request
 * it. */
gboolean lig_find_shares (LigGraph *graph, GError **error);

/* Returns the parts of a range that this rank updates, all of it without shares; (transfer full),
 * of LigElements. */
GArray *lig_own_ranges (const LigGraph *graph, LigElements of);

/* Returns the offset in the optimizer state of an element that this rank updates. */
gint64 lig_kept_place (const LigGraph *graph, gint64 element);
