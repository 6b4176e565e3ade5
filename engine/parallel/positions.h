/* SPDX-License-Identifier: MIT */
/* Sequences that are sharded over a context-parallel group. */
#pragma once

#include "engine/graph/graph.h"

/* Shards the sequence axis of the input over the ranks. */
gboolean lig_positions_shard (LigRequest *request, GError **error);

/* Checks that the op computes the same with a part of a sequence as with all of it. */
gboolean lig_positions_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Returns whether the op needs the tokens of other ranks, and has parts that gather them. */
gboolean lig_positions_parts (const LigGraph *graph, LigOp *op);
