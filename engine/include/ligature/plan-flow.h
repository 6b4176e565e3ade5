/* SPDX-License-Identifier: MIT */
/* Follows the values of a plan from step to step. The tables of a plan list who writes and reads
 * each value under its own name; the functions here see the other names of its memory, too.
 *
 * Threads: may be used by any thread, by one at a time. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/* The values of a plan by their memory. */
typedef struct _LigPlanFlow LigPlanFlow;

/**
 * lig_plan_flow_new: (skip)
 * @plan: a plan
 *
 * Returns: (transfer full): the flow of its values; it keeps the plan
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
 * Finds the steps whose results are in the value when the step begins. A value that no step writes
 * is another one under another name, or consists of parts that are written. A step whose result a
 * later one has read, to add to it, is not among them.
 *
 * Returns: (transfer full) (element-type int): numbers of steps before @step, without an order;
 *   none for values of the caller and those of the state that nothing has written
 */
LIG_API GArray *lig_plan_flow_find_writers (LigPlanFlow *self, int value, int step);

/**
 * lig_plan_flow_find_readers: (skip)
 * @self: a flow
 * @value: the number of a value
 * @step: the number of a step that writes it
 *
 * Finds the steps that read the step's result, under this name of the value or another one.
 *
 * Returns: (transfer full) (element-type int): numbers of steps after @step, in their order
 */
LIG_API GArray *lig_plan_flow_find_readers (LigPlanFlow *self, int value, int step);

/**
 * lig_plan_flow_get_root: (skip)
 * @self: a flow
 * @value: the number of a value
 *
 * Returns: the number of the value whose memory it shares, or @value
 */
LIG_API int lig_plan_flow_get_root (LigPlanFlow *self, int value);

G_END_DECLS
