/* SPDX-License-Identifier: MIT */
/* Finds the load of experts of the newest run of a sequence. */
#include "engine/report/picture.h"
#include <ligature/plan.h>
#include <ligature/recorded-loads.h>
#include <ligature/store-loads.h>
#include <ligature/store.h>

/* Older runs are not considered. */
enum { MAX_CANDIDATES = 64 };

GPtrArray *
lig_recorded_loads_find (LigStore *store, LigPlan *plan)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && plan, NULL);
  const LigRunFilter filter = {.kind = "train", .limit = MAX_CANDIDATES};
  guint n_ops;
  if (!lig_plan_has_loads (plan))
    return NULL;
  lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GPtrArray) rows = lig_store_list_runs (store, &filter, NULL);
  g_autofree char *text = lig_report_describe_sequence (lig_plan_get_sequence (plan), plan);
  const char *rejected = NULL;
  for (guint i = 0; rows && i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    /* Adjacent rows share equal texts, which are parsed once. */
    if (row->sequence == rejected)
      continue;
    if (!lig_report_is_sequence (row, plan, text)) {
      rejected = row->sequence;
      continue;
    }
    g_autoptr (GPtrArray) loads = lig_store_get_loads (store, row->uuid, NULL);
    if (loads && lig_plan_find_load (plan, loads, 0, (int) n_ops))
      return g_steal_pointer (&loads);
  }
  return NULL;
}
