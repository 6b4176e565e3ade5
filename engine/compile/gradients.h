/* SPDX-License-Identifier: MIT */
/* Gradients of parameters that several ops share. */
#pragma once

#include "engine/graph/graph.h"

/* After the backward pass is scheduled: lets the first step that writes a gradient replace it, and
 * every later one add to it. */
void lig_share_gradients (LigGraph *graph);
