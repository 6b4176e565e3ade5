/* SPDX-License-Identifier: MIT */
/* Reports for spreadsheets: the steps of a plan, the metrics of a run. */
#include "engine/base/number.h"
#include "engine/report/format.h"
#include <ligature/comparison.h>
#include <ligature/csv.h>
#include <ligature/plan.h>

#include <math.h>

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_string_append (to, "index,pass,group,fusion,kernel,operands,read,written,flops,predicted_us\n");
  for (guint i = 0; i < count; i++) {
    const LigPlanStep *step = &steps[i];
    const char *fusion = lig_report_fusion_name (plan, step);
    g_string_append_printf (to, "%u,%s,", i, lig_pass_name (step->pass));
    if (step->group >= 0)
      g_string_append_printf (to, "%d", step->group);
    g_string_append_c (to, ',');
    lig_csv_append_text (to, fusion ? fusion : "");
    g_string_append_c (to, ',');
    lig_csv_append_text (to, lig_report_kernel_name (step));
    g_string_append_c (to, ',');
    g_autofree char *operands = lig_plan_name_operands (plan, step);
    lig_csv_append_text (to, operands);
    g_string_append_printf (to, ",%.0f,%.0f,%.0f,", step->read, step->written, step->flops);
    if (step->predicted > 0)
      lig_csv_append_number (to, step->predicted * 1e6);
    g_string_append_c (to, '\n');
  }
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_string_append (to, "metric,step,value\n");
  for (guint i = 0; i < run->metrics->len; i++) {
    const LigMetricRow *metric = run->metrics->pdata[i];
    g_autoptr (GString) name = g_string_new (NULL);
    lig_csv_append_text (name, metric->name);
    for (guint j = 0; j < metric->steps->len; j++) {
      g_string_append_printf (to, "%s,%" G_GINT64_FORMAT ",", name->str,
                              g_array_index (metric->steps, gint64, j));
      lig_csv_append_number (to, g_array_index (metric->values, double, j));
      g_string_append_c (to, '\n');
    }
  }
  return TRUE;
}

static void
append_fusions (GString *to, LigPlan *plan, LigPass pass, const LigPlanSide *side)
{
  guint count;
  g_autoptr (GString) names = g_string_new (NULL);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++)
    g_string_append_printf (names, "%s%s", names->len > 0 ? " " : "",
                            groups[i].fusion ? groups[i].fusion->name : "-");
  lig_csv_append_text (to, names->str);
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  guint count, n_ops;
  LigPlan *before = lig_plan_comparison_get_before (pair->plans);
  LigPlan *after = lig_plan_comparison_get_after (pair->plans);
  const LigPlanChange *changes = lig_plan_comparison_get_changes (pair->plans, &count);
  g_string_append (to, "pass,path,same,measured,before,after,before_us,after_us,before_bytes,"
                       "after_bytes\n");
  for (guint i = 0; i < count; i++) {
    const LigPlanChange *change = &changes[i];
    const LigPlanOp *ops = lig_plan_get_ops (change->after.n_groups > 0 ? after : before, &n_ops);
    int first = change->after.n_groups > 0 ? change->after.first : change->before.first;
    g_string_append_printf (to, "%s,%s,%s,%s,", lig_pass_name (change->pass), ops[first].path,
                            change->same ? "true" : "false", change->measured ? "true" : "false");
    append_fusions (to, before, change->pass, &change->before);
    g_string_append_c (to, ',');
    append_fusions (to, after, change->pass, &change->after);
    const double seconds[] = {change->before.seconds, change->after.seconds};
    for (int k = 0; k < 2; k++) {
      g_string_append_c (to, ',');
      if (isfinite (seconds[k]))
        lig_csv_append_number (to, seconds[k] * 1e6);
    }
    g_string_append_printf (to, ",%.0f,%.0f\n", change->before.bytes, change->after.bytes);
  }
  return TRUE;
}

LIG_REPORT_FORMAT (csv) = {
  .name = "csv",
  .title = N_ ("Table"),
  .help = N_ ("One line for each step of the plan, for a spreadsheet"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
