/* SPDX-License-Identifier: MIT */
/* A compilation: the passes, in order, and the functions that run them. */
#pragma once

#include "engine/graph/graph.h"
#include <ligature/plan.h>

/* Frees a graph and the data that other rooms keep for it. */
void lig_compilation_free (LigGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigGraph, lig_compilation_free)

/* Null options are the defaults; `flags`: LigRequestFlags. */
LigGraph *lig_graph_new (LigSequence *sequence,
                         LigDevice *device,
                         const LigPlanOptions *options,
                         unsigned flags,
                         GError **error);

/* Makes the graph refer to the sequence of another request, from whose copy it was made. */
void lig_graph_follow (LigGraph *self, const LigRequest *of);

/* Makes a measuring policy accept the same fusions as the policy `all`. */
void lig_graph_measure_nothing (LigGraph *self);

/* Runs and verifies the passes from the first to the last of these names; the caller holds the
 * registry. */
gboolean lig_run_passes (LigGraph *graph, const char *first, const char *last, GError **error);

/* Runs and verifies all passes; registration is blocked while they run. */
gboolean lig_graph_compile (LigGraph *self, GError **error);

/* Runs the passes up to the shapes of all values and parameters. */
gboolean lig_graph_infer (LigGraph *self, GError **error);

/* Of a plan with a cache: marks the parts of the source, and finds the part with which the text
 * begins. The error is LIG_ERROR_VALUE. */
gboolean lig_find_sources (LigGraph *graph, GError **error);

/* Returns the extra input of a part that a cache keeps, LigOpInfo.cached_input; -1: it has none. */
int lig_part_kept_input (const LigPart *part);

/* The passes of this room, in order; fuse and predict are in engine/choose. On failure each returns
 * FALSE with the error set. */
gboolean lig_expand (LigGraph *graph, GError **error);
gboolean lig_infer (LigGraph *graph, GError **error);
gboolean lig_differentiate (LigGraph *graph, GError **error);
gboolean lig_represent (LigGraph *graph, GError **error);
gboolean lig_schedule (LigGraph *graph, GError **error);
gboolean lig_recompute (LigGraph *graph, GError **error);

gboolean lig_allocate (LigGraph *graph, GError **error);

/* After the times of all steps are predicted: delays gradient collectives to the steps that they
 * slow least. */
void lig_delay_reductions (LigGraph *graph);

/* Moves the tables of a graph into a plan after all passes have run, and frees the graph. */
LigPlan *lig_plan_finish (LigGraph *graph);

/* Compiles the example of the op, which may so far be visible only to the calling thread. */
gboolean lig_op_info_try (const LigOpInfo *info, GError **error);
