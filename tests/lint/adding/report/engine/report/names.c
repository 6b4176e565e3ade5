/* SPDX-License-Identifier: MIT */
/* Reports with only names: the ops of a plan, the uuid of a run. */
#include "engine/report/format.h"

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    g_string_append_printf (to, "%s\n", ops[i].info->name);
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_string_append_printf (to, "%s\n", run->row->uuid);
  return TRUE;
}

LIG_REPORT_FORMAT (names) = {
  .name = "names",
  .title = N_ ("Names"),
  .help = N_ ("One name in each line"),
  .plan = write_plan,
  .run = write_run,
};
