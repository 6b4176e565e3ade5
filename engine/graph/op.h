/* SPDX-License-Identifier: MIT */
/* Ops of a graph. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/positions.h"

/* Returns whether the part is a matmul that recipes apply to, also one of groups of rows, and
 * whether its recipe applies. */
gboolean lig_part_is_matmul (const LigPart *part);
gboolean lig_part_is_quantized (const LigPart *part);

/* The recipes that matmuls of groups of rows can follow, in the words of verdicts. */
#define LIG_RECIPES_OF_GROUPS "fp8-rows|fp8-block|fp8-current"

/* Returns whether the part is a matmul of groups of rows that cannot follow its recipe: one with an
 * amax history, or one that can only be planned. */
gboolean lig_part_rejects_recipe (const LigPart *part);

/* Returns whether the part passes its values on unchanged in the pass, so that fusions may extend
 * across it. */
gboolean lig_part_is_transparent (const LigPart *part, LigPass pass);

/* Returns the gradient of a part's output before it is quantized; -1 for none. */
int lig_part_gradient (const LigGraph *graph, int index);

/* Returns whether the part computes a gradient of its parameter. */
gboolean lig_part_trains (const LigGraph *graph, const LigPart *part, int slot);

/* Returns whether the caller or a later op reads an extra output of the op. */
gboolean lig_branch_is_used (const LigPart *part);

/* Returns whether the plan counts the rows whose largest logit is the target. */
gboolean lig_counts_accuracy (const LigGraph *graph);

/* Returns whether an extra output has a reader outside the group: the caller or a later op. */
gboolean lig_leaves_group (const LigPlanGroup *group, const LigPart *part, int slot);

/* Returns whether the step of the accuracy reads the value. */
gboolean lig_accuracy_reads (const LigGraph *graph, int value);

/* Returns the positions of x on which a position of y depends, and the reason if it depends on
 * later ones. */
LigPositions
lig_part_positions (const LigPart *part, const LigShape *x, const LigShape *y, const char **reason);
