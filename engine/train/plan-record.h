/* SPDX-License-Identifier: MIT */
/* What the store keeps of a plan, whatever it was run for. */
#pragma once

#include <ligature/plan.h>
#include <ligature/store.h>

G_BEGIN_DECLS

/* Adds the plan's groups and verdicts to a run. */
void lig_plan_record (LigPlan *self, LigStore *store, const char *run);

G_END_DECLS
