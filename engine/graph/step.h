/* SPDX-License-Identifier: MIT */
/* Single steps, in a graph or not. */
#pragma once

#include "engine/graph/graph.h"

/* Appends a step that belongs to no group. */
void lig_step_append (LigGraph *graph,
                      GArray *steps,
                      LigPass pass,
                      int part,
                      const char *kernel,
                      const int *values,
                      const void *params,
                      gsize params_size);

/* Sets the figures of a step that has its kernel, operands and params: the bytes that it reads and
 * writes, its flops, and its scratch memory. */
void lig_step_finish (LigGraph *graph, LigGraphStep *step);

/* Adds a value for the scratch memory of the step, if its kernel needs some. It is counted in fp32
 * elements; an absurdly large size remains one that cannot be allocated. */
void lig_step_add_scratch (LigGraph *self, LigGraphStep *step);

/* Returns the type that the kernel of a step must support: that of its first floating operand. */
LigDtype lig_served_dtype (const LigGraph *graph, const LigGraphStep *step);

/* Returns the index of the step's rows among those of all ranks, see LigLaunch.part. All ops of a
 * fused step have the same rows. */
int lig_step_row_part (const LigGraph *graph, const LigGraphStep *step);

/* Returns the group in which the step communicates, or LIG_N_GROUPS. */
#define lig_step_group(step) lig_code_group ((step)->plan.kernel, &(step)->code)

/* Returns whether the step communicates with other ranks. */
#define lig_is_collective(step) lig_plan_step_is_collective (&(step)->plan)

/* Returns the number of the parameter whose gradient a value is, or -1. */
int lig_value_parameter (const LigGraph *graph, int value);

/* Returns whether a step writes the gradient of a parameter that several ops share. Such a step
 * must not overlap others, which may add to the same gradient. */
gboolean lig_writes_shared (const LigGraph *graph, const LigGraphStep *step);

/* Returns the lane in which a step is timed: a collective then has no peers, and nothing to wait
 * for. */
LigLane lig_timed_lane (const LigGraphStep *step);
