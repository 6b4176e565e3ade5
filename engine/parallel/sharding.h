/* SPDX-License-Identifier: MIT */
/* The sharding of values and parameters over a tensor-parallel group. */
#pragma once

#include "engine/graph/graph.h"

/* Presets the shardings in the input of an op's shape rule. */
void lig_sharding_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer);

/* Checks that the op supports the shardings of its inputs. */
gboolean lig_sharding_check (const LigPart *part, const LigInfer *infer, GError **error);

/* Sets the sharding of the parameter that an op needs, and whether its gradient is summed over the
 * ranks. */
void lig_sharding_parameter (LigTie *parameter, const LigInfer *infer);
