/* SPDX-License-Identifier: MIT */
/* The optimizer's steps at the end of a plan, and the loss scale before its backward pass. */
#pragma once

#include "engine/graph/graph.h"

void lig_schedule_update (LigGraph *graph);

/* Adds the steps that multiply the incoming gradients listed in graph->gradients by the loss
 * scale. */
void lig_schedule_scaling (LigGraph *graph);
