/* SPDX-License-Identifier: MIT */
/* The positions of rows that the ranks of a context group divide. */
#pragma once

#include "engine/graph/graph.h"

/* Divides the positions of the input among the ranks. */
gboolean lig_positions_shard (LigRequest *request, GError **error);

/* Checks that the op computes with some positions of a row as with all of them. */
gboolean lig_positions_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Returns whether the op needs the positions of other ranks, and has parts that gather them. */
gboolean lig_positions_parts (const LigGraph *graph, LigOp *op);
