/* SPDX-License-Identifier: MIT */
/* The parts of the parameters that each rank of a data group updates, so that it alone has the
 * optimizer's arrays for them (Rajbhandari and others, “ZeRO”, 2020, stage 1). */
#pragma once

#include "engine/graph/graph.h"

/* Returns the ranges of trained parameters that are exchanged at once, the last in the arrays
 * first. A range ends once it has a bucket of elements of the type, where a parameter begins or, if
 * its elements are shared, at the next multiple of the shares; (transfer full), of LigElements.
 */
GArray *lig_shard_gradients (const LigGraph *graph, LigDtype dtype);

/* Returns the multiple of elements that ranges have. */
gint64 lig_share_unit (const LigGraph *graph);

/* Once the parameters are placed: divides them among the ranks if the options demand it. */
gboolean lig_find_shares (LigGraph *graph, GError **error);

/* Returns the parts of a range that this rank updates, all of it without shares; (transfer full),
 * of LigElements. */
GArray *lig_own_ranges (const LigGraph *graph, LigElements of);

/* Returns the place of an element that this rank updates in the optimizer's arrays. */
gint64 lig_kept_place (const LigGraph *graph, gint64 element);
