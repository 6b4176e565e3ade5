/* SPDX-License-Identifier: MIT */
/* Follows the values of a plan from step to step. The tables of a plan list the steps that write
 * and read each value under its own name; the functions here also see accesses through aliases of
 * its memory.
 *
 * Threads: may be used by any thread, but by only one at a time. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/* The values of a plan by their memory. */
typedef struct _LigPlanFlow LigPlanFlow;

/**
 * lig_plan_flow_new: (skip)
 * @plan: a plan
 *
 * Returns: (transfer full): the flow of its values, which keeps a reference to the plan
 */
LIG_API LigPlanFlow *lig_plan_flow_new (LigPlan *plan) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_plan_flow_free: (skip)
 * @self: (nullable) (transfer full): a flow
 *
 * Frees the flow.
 */
LIG_API void lig_plan_flow_free (LigPlanFlow *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPlanFlow, lig_plan_flow_free)

/**
 * lig_plan_flow_find_writers: (skip)
 * @self: a flow
 * @value: the number of a value
 * @step: the number of a step, or the number of steps: after the last one
 *
 * Finds the steps whose results are in the value when the step begins. If no step writes the value
 * itself, it is an alias, or consists of parts that are written. A step whose result a later step
 * has read and accumulated to is not included.
 *
 * Returns: (transfer full) (element-type int): step numbers before @step, in any order; empty for
 *   values of the caller, and for values of the state that no step has written
 */
LIG_API GArray *lig_plan_flow_find_writers (LigPlanFlow *self, int value, int step);

/**
 * lig_plan_flow_find_readers: (skip)
 * @self: a flow
 * @value: the number of a value
 * @step: the number of a step that writes it
 *
 * Finds the steps that read the step's result, through this value or an alias.
 *
 * Returns: (transfer full) (element-type int): step numbers after @step, in order
 */
LIG_API GArray *lig_plan_flow_find_readers (LigPlanFlow *self, int value, int step);

/**
 * lig_plan_flow_get_root: (skip)
 * @self: a flow
 * @value: the number of a value
 *
 * Returns: the number of the value whose memory it shares; @value itself if it is not an alias
 */
LIG_API int lig_plan_flow_get_root (LigPlanFlow *self, int value);

G_END_DECLS
