/* SPDX-License-Identifier: MIT */
/* The conditions that hold after each pass. */
#pragma once

#include "engine/graph/graph.h"

/* Check the invariants after each pass; an error is a bug in the compiler or in a custom table. */
gboolean lig_verify_parts (const LigGraph *graph, GError **error);
gboolean lig_verify_values (const LigGraph *graph, GError **error);
gboolean lig_verify_groups (const LigGraph *graph, GError **error);
gboolean lig_verify_steps (const LigGraph *graph, GError **error);
gboolean lig_verify_memory (const LigGraph *graph, GError **error);
