/* SPDX-License-Identifier: MIT */
/* Reports for spreadsheets: the steps of a plan, the metrics of a run. */
#include "engine/base/number.h"
#include "engine/report/format.h"

#include <math.h>
#include <string.h>

/* Quoted as RFC 4180 has it; an apostrophe keeps a spreadsheet from computing the text. */
static void
append_text (GString *to, const char *text)
{
  gboolean formula = *text && strchr ("=+-@\t\r", *text);
  if (!strpbrk (text, ",\"\r\n")) {
    g_string_append_printf (to, "%s%s", formula ? "'" : "", text);
    return;
  }
  g_string_append (to, formula ? "\"'" : "\"");
  for (const char *at = text; *at; at++) {
    if (*at == '"')
      g_string_append_c (to, '"');
    g_string_append_c (to, *at);
  }
  g_string_append_c (to, '"');
}

static void
append_number (GString *to, double value)
{
  if (isnan (value))
    g_string_append (to, "nan");
  else if (isinf (value))
    g_string_append (to, value > 0 ? "inf" : "-inf");
  else
    lig_number_append (to, value, FALSE);
}

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
    append_text (to, fusion ? fusion : "");
    g_string_append_c (to, ',');
    append_text (to, lig_report_kernel_name (step));
    g_string_append_c (to, ',');
    append_text (to, step->operands);
    g_string_append_printf (to, ",%.0f,%.0f,%.0f,", step->read, step->written, step->flops);
    if (step->predicted > 0)
      append_number (to, step->predicted * 1e6);
    g_string_append_c (to, '\n');
  }
  return TRUE;
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_string_append (to, "metric,step,value\n");
  for (guint i = 0; i < run->metrics->len; i++) {
    const LigReportMetric *metric = run->metrics->pdata[i];
    g_autoptr (GString) name = g_string_new (NULL);
    append_text (name, metric->name);
    for (guint j = 0; j < metric->steps->len; j++) {
      g_string_append_printf (to, "%s,%" G_GINT64_FORMAT ",", name->str,
                              g_array_index (metric->steps, gint64, j));
      append_number (to, g_array_index (metric->values, double, j));
      g_string_append_c (to, '\n');
    }
  }
  return TRUE;
}

LIG_REPORT_FORMAT (csv) = {
  .name = "csv",
  .title = N_ ("Table"),
  .help = N_ ("One line for each step of the plan, for a spreadsheet"),
  .plan = write_plan,
  .run = write_run,
};
