/* SPDX-License-Identifier: MIT */
/* A plan's groups and verdicts into the store. */
#include "engine/train/plan-record.h"

void
lig_plan_record (LigPlan *self, LigStore *store, const char *run)
{
  guint count;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (self, pass, &count);
    for (guint i = 0; i < count; i++)
      lig_store_add_fusion (store, run, lig_pass_name (pass), (int) i, groups[i].first,
                            groups[i].count, groups[i].fusion ? groups[i].fusion->name : NULL);
  }
  const LigVerdict *verdicts = lig_plan_get_verdicts (self, &count);
  for (guint i = 0; i < count; i++)
    lig_store_add_verdict (store, run, verdicts[i].fusion->name, lig_pass_name (verdicts[i].pass),
                           verdicts[i].first, verdicts[i].count, verdicts[i].taken,
                           lig_reason_name (verdicts[i].reason), verdicts[i].observed,
                           verdicts[i].required, verdicts[i].text);
}
