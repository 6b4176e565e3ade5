/* SPDX-License-Identifier: MIT */
/* Gradients of parameters that several ops share. */
#pragma once

#include "engine/graph/graph.h"

/* Runs after the backward pass is scheduled: makes the first step that writes a gradient overwrite
 * it, and every later one add to it. */
void lig_share_gradients (LigGraph *graph);
