/* SPDX-License-Identifier: MIT */
/* The optimizer's steps at the end of a plan, and the loss scale before its backward pass. */
#pragma once

#include "engine/graph/graph.h"

void lig_schedule_update (LigGraph *graph);

/* Adds the steps by which ops change parameters themselves, after those of the optimizer. */
gboolean lig_schedule_own_updates (LigGraph *graph, GError **error);

/* Adds the steps that multiply the incoming gradients listed in graph->gradients by the loss
 * scale. */
void lig_schedule_scaling (LigGraph *graph);
