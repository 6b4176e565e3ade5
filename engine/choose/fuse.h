/* SPDX-License-Identifier: MIT */
/* fuse: the pass that chooses the groups. */
#pragma once

#include "engine/graph/graph.h"

/* Matches all fusions, chooses the groups of each pass, and explains what was rejected. */
gboolean lig_fuse (LigGraph *graph, GError **error);

/* Does the part of `fuse` that finds problems: checks forced and forbidden fusions. */
gboolean lig_fuse_check (LigGraph *graph, GError **error);
