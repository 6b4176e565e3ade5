/* SPDX-License-Identifier: MIT */
/* Records the plan of a training run or a profile in the store. */
#pragma once

#include <ligature/plan.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Adds the plan's groups and verdicts to a run. */
void lig_plan_record (LigPlan *self, LigStore *store, const char *run);

/* Returns as JSON the inputs that a repetition of a profile needs besides sequence and settings;
 * (transfer full). `options` may be NULL. */
char *lig_plan_describe_inputs (LigPlan *plan, const LigPlanOptions *options, guint rounds);

/* Records the run, its fusions and verdicts in the store. */
gboolean lig_run_register (LigRun *self, GError **error);

G_END_DECLS
