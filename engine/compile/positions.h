/* SPDX-License-Identifier: MIT */
/* The positions of rows that the ranks of a context group divide. */
#pragma once

#include "engine/compile/draft.h"
#include <ligature/lowering.h>

/* Divides the positions of the draft's input among the ranks. */
gboolean lig_positions_divide (LigDraft *draft, GError **error);

/* Checks that the op computes with some positions of a row as with all of them. */
gboolean lig_positions_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Returns whether the op needs the positions of other ranks, and has parts that gather them. */
gboolean lig_positions_parts (const LigDraft *draft, LigOp *op);

/* Adds those parts; returns TRUE. `length` is the number of positions that a rank has. */
gboolean lig_positions_expand (LigOp *op, LigParts *parts, gint64 length);
