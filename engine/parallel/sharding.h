/* SPDX-License-Identifier: MIT */
/* The parts of values and parameters that the ranks of a tensor group have. */
#pragma once

#include "engine/graph/graph.h"

/* Presets the parts in the input of an op's shape rule. */
void lig_sharding_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer);

/* Checks that the op computes with the parts of its inputs. */
gboolean lig_sharding_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Sets the part of the parameter that an op needs, and whether its gradient is a sum over the
 * ranks. */
void lig_sharding_parameter (LigTie *parameter, const LigInfer *infer);
