/* SPDX-License-Identifier: MIT */
/* All problems of a sequence. */
#pragma once

#include "engine/graph/problems.h"

/* Runs the passes and collects all problems. With `shapes` only those up to the shapes. */
void lig_graph_check (LigGraph *self, gboolean shapes);

/* Suggests edits for problems with shapes and types, which need the shapes of all parts. */
void lig_propose_fixes (LigGraph *graph, LigGraphProblem *problem);
