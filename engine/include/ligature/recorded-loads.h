/* SPDX-License-Identifier: MIT */
/* The load of experts that the newest training run of a plan's sequence recorded. Nothing is
 * measured. Threads: as <ligature/recorded-times.h>. */
#pragma once

#include <ligature/plan-loads.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * lig_recorded_loads_find: (skip)
 * @store: a store
 * @plan: a plan
 *
 * Finds the newest training run of the same sequence that recorded loads. Its training settings,
 * types, recipe and device may be others.
 *
 * Returns: (transfer full) (nullable) (element-type LigLoadSeries): the loads of its routers, which
 *   are those of @plan; %NULL: there are none
 */
LIG_API GPtrArray *lig_recorded_loads_find (LigStore *store, LigPlan *plan);

G_END_DECLS
