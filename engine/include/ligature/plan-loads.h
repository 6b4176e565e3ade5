/* SPDX-License-Identifier: MIT */
/* The recorded load of experts at the ops of a plan. Threads: as plans and as series, which any
 * thread may read. */
#pragma once

#include <ligature/loads.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;

/**
 * lig_plan_has_loads: (skip)
 * @plan: a plan
 *
 * Returns: whether an op distributes rows to experts, and counts them
 */
LIG_API gboolean lig_plan_has_loads (LigPlan *plan);

/**
 * lig_plan_find_load: (skip)
 * @plan: a plan
 * @loads: (nullable) (element-type LigLoadSeries): the loads of all routers of a run, in their
 *   order
 * @first: the index of an op
 * @count: the number of ops
 *
 * Finds the router that was loaded least evenly in its last recorded step, among these ops and
 * their repetitions in blocks.
 *
 * Returns: (nullable) (transfer none): its load; %NULL without a router, and if @loads are those of
 *   another model
 */
LIG_API const LigLoadSeries *
lig_plan_find_load (LigPlan *plan, GPtrArray *loads, int first, int count);

/**
 * lig_load_series_describe: (skip)
 * @self: a series with a step
 *
 * Returns: (transfer full): the load in the last step as a sentence, translated: `Load of experts
 *   at 1 in step 50: expert 3 has 1.8 × the mean, 2 of 8 experts are idle, 12 rows were dropped`
 */
LIG_API char *lig_load_series_describe (const LigLoadSeries *self);

G_END_DECLS
