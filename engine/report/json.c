/* SPDX-License-Identifier: MIT */
/* Reports for programs: all data of a plan or a run. */
#include "engine/base/json-private.h"
#include "engine/base/number.h"
#include "engine/report/format.h"
#include <ligature/json-members.h>
#include <ligature/plan.h>

#include <json-glib/json-glib.h>

#include <math.h>
#include <string.h>

static void
add_memory (JsonBuilder *to, LigPlan *plan)
{
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  lig_json_begin_object (to, "memory");
  lig_json_add_integer (to, "arena_bytes", arena);
  lig_json_add_integer (to, "live_peak", peak);
  lig_json_add_integer (to, "state_bytes", lig_plan_get_state_bytes (plan));
  lig_json_add_integer (to, "segments", lig_plan_get_segments (plan));
  json_builder_end_object (to);
}

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_autoptr (JsonNode) document = lig_plan_to_json (plan);
  g_autoptr (JsonBuilder) more = json_builder_new ();
  json_builder_begin_object (more);
  lig_json_add_text (more, "command", command);
  lig_json_begin_object (more, "types");
  lig_json_add_text (more, "compute", lig_dtype_name (lig_plan_get_compute (plan)));
  lig_json_add_text (more, "parameters", lig_plan_get_parameters_name (plan));
  json_builder_end_object (more);
  lig_plan_add_steps (plan, more);
  lig_plan_add_values (plan, more);
  add_memory (more, plan);
  json_builder_end_object (more);
  g_autoptr (JsonNode) root = json_builder_get_root (more);
  JsonObject *object = json_node_get_object (document);
  g_autoptr (GList) names = json_object_get_members (json_node_get_object (root));
  for (GList *name = names; name; name = name->next)
    json_object_set_member (object, name->data,
                            json_object_dup_member (json_node_get_object (root), name->data));
  lig_json_add_units (document);
  g_autofree char *text = lig_json_to_text (document);
  g_string_append_printf (to, "%s\n", text);
  return TRUE;
}

static void
add_timings (JsonBuilder *to, GPtrArray *timings)
{
  lig_json_begin_array (to, "timings");
  for (guint i = 0; i < timings->len; i++) {
    const LigTimingRow *timing = timings->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "pass", timing->pass);
    lig_json_add_integer (to, "group", timing->group);
    lig_json_add_integer (to, "step", timing->step);
    lig_json_add_number (to, "microseconds", timing->microseconds);
    lig_json_add_number (to, "bytes", timing->bytes);
    lig_json_add_number (to, "flops", timing->flops);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_fusions (JsonBuilder *to, GPtrArray *fusions)
{
  lig_json_begin_array (to, "fusions");
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "pass", fusion->pass);
    lig_json_add_integer (to, "group", fusion->group);
    lig_json_add_text (to, "fusion", fusion->fusion);
    lig_json_add_range (to, "ops", fusion->first_op, fusion->count);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* Writes the text directly, without JSON nodes, because a long run has millions of numbers. */
static void
append_metric (GString *to, const LigMetricRow *metric)
{
  g_autofree char *name = g_utf8_make_valid (metric->name, -1);
  g_string_append (to, "\n    ");
  lig_json_append_string (to, name);
  g_string_append (to, ": {\n      \"steps\": [");
  for (guint i = 0; i < metric->steps->len; i++)
    g_string_append_printf (to, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "",
                            g_array_index (metric->steps, gint64, i));
  g_string_append (to, "],\n      \"values\": [");
  for (guint i = 0; i < metric->values->len; i++) {
    double value = g_array_index (metric->values, double, i);
    g_string_append (to, i > 0 ? ", " : "");
    if (isfinite (value))
      lig_number_append (to, value, FALSE);
    else
      g_string_append (to, "null");
  }
  g_string_append (to, "]\n    }");
}

static gboolean
write_run (GString *to, const LigReportRun *run, GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_report_add_row (builder, run->row);
  lig_report_add_origin (builder, run->row);
  lig_json_add_document (builder, "inputs", run->inputs ? run->inputs : "");
  add_fusions (builder, run->fusions);
  lig_report_add_verdicts (builder, run->verdicts);
  lig_report_add_spreads (builder, run->spreads);
  lig_report_add_errors (builder, run->errors);
  add_timings (builder, run->timings);
  lig_report_add_samples (builder, run->samples);
  lig_report_add_histograms (builder, run->histograms);
  lig_report_add_loads (builder, run->loads);
  lig_report_add_artifacts (builder, run->artifacts);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_add_units (root);
  g_autofree char *text = lig_json_to_text (root);
  /* The metrics are inserted before the last line feed and brace. */
  g_string_append_len (to, text, (gssize) strlen (text) - 2);
  g_string_append (to, ",\n  \"metrics\": {");
  for (guint i = 0; i < run->metrics->len; i++) {
    g_string_append (to, i > 0 ? "," : "");
    append_metric (to, run->metrics->pdata[i]);
  }
  g_string_append (to, run->metrics->len > 0 ? "\n  }\n}\n" : "}\n}\n");
  return TRUE;
}

static gboolean
write_pair (GString *to, const LigReportPair *pair, GError **error)
{
  g_autoptr (JsonNode) document =
    lig_plan_comparison_to_json (pair->plans, pair->titles[0], pair->titles[1]);
  lig_json_add_units (document);
  g_autofree char *text = lig_json_to_text (document);
  g_string_append_printf (to, "%s\n", text);
  return TRUE;
}

LIG_REPORT_FORMAT (json) = {
  .name = "json",
  .title = N_ ("JSON"),
  .help = N_ ("The whole plan, for programs"),
  .plan = write_plan,
  .run = write_run,
  .pair = write_pair,
};
