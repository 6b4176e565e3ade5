/* SPDX-License-Identifier: MIT */
/* Reports for programs: everything there is to know of a plan or a run. */
#include "engine/base/json-private.h"
#include "engine/base/number.h"
#include "engine/report/format.h"

#include <math.h>
#include <string.h>

static void
add_text (JsonBuilder *to, const char *name, const char *value)
{
  g_autofree char *valid = value ? g_utf8_make_valid (value, -1) : NULL;
  json_builder_set_member_name (to, name);
  json_builder_add_string_value (to, valid);
}

static void
add_integer (JsonBuilder *to, const char *name, gint64 value)
{
  json_builder_set_member_name (to, name);
  json_builder_add_int_value (to, value);
}

/* JSON has no NaN and no infinity. */
static void
add_number (JsonBuilder *to, const char *name, double value)
{
  json_builder_set_member_name (to, name);
  if (!isfinite (value))
    json_builder_add_null_value (to);
  else if (value == floor (value) && fabs (value) < 1e15)
    json_builder_add_int_value (to, (gint64) value);
  else
    json_builder_add_double_value (to, value);
}

static void
add_truth (JsonBuilder *to, const char *name, gboolean value)
{
  json_builder_set_member_name (to, name);
  json_builder_add_boolean_value (to, value);
}

static void
begin_object (JsonBuilder *to, const char *name)
{
  json_builder_set_member_name (to, name);
  json_builder_begin_object (to);
}

static void
begin_array (JsonBuilder *to, const char *name)
{
  json_builder_set_member_name (to, name);
  json_builder_begin_array (to);
}

static void
add_indexes (JsonBuilder *to, int first, int count)
{
  begin_array (to, "ops");
  for (int i = 0; i < count; i++)
    json_builder_add_int_value (to, first + i);
  json_builder_end_array (to);
}

/* --- Plans --------------------------------------------------------------------------------- */

static void
add_steps (JsonBuilder *to, LigPlan *plan)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  begin_array (to, "steps");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (to);
    add_integer (to, "index", i);
    add_text (to, "pass", lig_pass_name (steps[i].pass));
    add_integer (to, "group", steps[i].group);
    add_text (to, "fusion", lig_report_fusion_name (plan, &steps[i]));
    add_text (to, "kernel", lig_report_kernel_name (&steps[i]));
    add_text (to, "operands", steps[i].operands);
    add_number (to, "read", steps[i].read);
    add_number (to, "written", steps[i].written);
    add_number (to, "flops", steps[i].flops);
    add_number (to, "predicted_us", steps[i].predicted > 0 ? steps[i].predicted * 1e6 : NAN);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* What the caller gives lives from before the first step, what the caller reads to after the last;
 * what lies in the state, or nowhere, has no lifetime. */
static void
add_lifetime (JsonBuilder *to, const LigPlanValue *value, int n_steps)
{
  gboolean known = g_str_equal (value->place, "arena") || g_str_equal (value->place, "alias");
  if (known && value->offset >= 0) {
    add_integer (to, "first", value->first);
    add_integer (to, "last", MIN (value->last, n_steps));
  } else {
    add_text (to, "first", NULL);
    add_text (to, "last", NULL);
  }
}

static void
add_values (JsonBuilder *to, LigPlan *plan)
{
  guint count, n_steps;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  lig_plan_get_steps (plan, &n_steps);
  begin_array (to, "values");
  for (guint i = 0; i < count; i++) {
    json_builder_begin_object (to);
    add_text (to, "name", values[i].name);
    begin_array (to, "shape");
    for (int j = 0; j < values[i].shape.n_axes; j++)
      json_builder_add_int_value (to, values[i].shape.axes[j]);
    json_builder_end_array (to);
    add_text (to, "dtype", lig_dtype_name (values[i].dtype));
    add_text (to, "place", values[i].place);
    add_integer (to, "offset", values[i].offset);
    add_integer (to, "bytes", values[i].bytes);
    add_lifetime (to, &values[i], (int) n_steps);
    add_truth (to, "saved", values[i].saved);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_memory (JsonBuilder *to, LigPlan *plan)
{
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  begin_object (to, "memory");
  add_integer (to, "arena_bytes", arena);
  add_integer (to, "live_peak", peak);
  add_integer (to, "state_bytes", lig_plan_get_state_bytes (plan));
  add_integer (to, "segments", lig_plan_get_segments (plan));
  json_builder_end_object (to);
}

static gboolean
write_plan (GString *to, LigPlan *plan, const char *command, GError **error)
{
  g_autoptr (JsonNode) document = lig_plan_to_json (plan);
  g_autoptr (JsonBuilder) more = json_builder_new ();
  json_builder_begin_object (more);
  add_text (more, "command", command);
  begin_object (more, "types");
  add_text (more, "compute", lig_dtype_name (lig_plan_get_compute (plan)));
  add_text (more, "parameters", lig_dtype_name (lig_plan_get_parameters (plan)));
  json_builder_end_object (more);
  add_steps (more, plan);
  add_values (more, plan);
  add_memory (more, plan);
  json_builder_end_object (more);
  g_autoptr (JsonNode) root = json_builder_get_root (more);
  JsonObject *object = json_node_get_object (document);
  g_autoptr (GList) names = json_object_get_members (json_node_get_object (root));
  for (GList *name = names; name; name = name->next)
    json_object_set_member (object, name->data,
                            json_object_dup_member (json_node_get_object (root), name->data));
  g_autofree char *text = lig_json_to_text (document);
  g_string_append_printf (to, "%s\n", text);
  return TRUE;
}

/* --- Runs ---------------------------------------------------------------------------------- */

/* Microseconds since 1970 as ISO 8601 in UTC, null for 0. */
static void
add_moment (JsonBuilder *to, const char *name, gint64 when)
{
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (when / G_USEC_PER_SEC);
  g_autoptr (GDateTime) exact =
    when && seconds ? g_date_time_add (seconds, when % G_USEC_PER_SEC) : NULL;
  g_autofree char *text = exact ? g_date_time_format_iso8601 (exact) : NULL;
  add_text (to, name, text);
}

/* A text that is JSON goes in as such, any other as a string. */
static void
add_json (JsonBuilder *to, const char *name, const char *text)
{
  JsonNode *value = lig_json_read (text, strlen (text), NULL, NULL);
  if (!value) {
    add_text (to, name, *text ? text : NULL);
    return;
  }
  json_builder_set_member_name (to, name);
  json_builder_add_value (to, value);
}

/* json-glib's integers are signed; a larger seed must not become a negative one. */
static void
add_seed (JsonBuilder *to, guint64 seed)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, seed);
  if (seed > G_MAXINT64)
    add_text (to, "seed", text);
  else
    add_integer (to, "seed", (gint64) seed);
}

static void
add_row (JsonBuilder *to, const LigRunRow *row)
{
  add_text (to, "run", row->uuid);
  add_text (to, "name", row->name);
  add_text (to, "status", row->status);
  add_text (to, "message", *row->message ? row->message : NULL);
  add_text (to, "kind", row->kind);
  add_text (to, "device", row->device);
  add_text (to, "dtype", row->dtype);
  add_text (to, "recipe", row->recipe);
  add_text (to, "policy", row->policy);
  add_seed (to, row->seed);
  add_moment (to, "started", row->started);
  add_moment (to, "ended", row->ended);
  add_text (to, "host", row->host);
  add_number (to, "last_step", row->last_step < 0 ? NAN : (double) row->last_step);
  begin_object (to, "loss");
  add_number (to, "first", row->first_loss);
  add_number (to, "last", row->last_loss);
  json_builder_end_object (to);
  begin_object (to, "eval");
  add_number (to, "loss", row->eval_loss);
  add_number (to, "accuracy", row->eval_accuracy);
  json_builder_end_object (to);
  add_truth (to, "starred", row->starred);
  begin_array (to, "tags");
  for (char **tag = row->tags; tag && *tag; tag++)
    json_builder_add_string_value (to, *tag);
  json_builder_end_array (to);
  add_text (to, "notes", row->notes);
  add_text (to, "revision", *row->revision ? row->revision : NULL);
  add_json (to, "settings", row->settings);
  add_json (to, "versions", row->versions);
  add_json (to, "sequence", row->sequence);
}

static void
add_timings (JsonBuilder *to, GPtrArray *timings)
{
  begin_array (to, "timings");
  for (guint i = 0; i < timings->len; i++) {
    const LigTimingRow *timing = timings->pdata[i];
    json_builder_begin_object (to);
    add_text (to, "pass", timing->pass);
    add_integer (to, "group", timing->group);
    add_integer (to, "step", timing->step);
    add_number (to, "microseconds", timing->microseconds);
    add_number (to, "bytes", timing->bytes);
    add_number (to, "flops", timing->flops);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_fusions (JsonBuilder *to, GPtrArray *fusions)
{
  begin_array (to, "fusions");
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    json_builder_begin_object (to);
    add_text (to, "pass", fusion->pass);
    add_integer (to, "group", fusion->group);
    add_text (to, "fusion", fusion->fusion);
    add_indexes (to, fusion->first_op, fusion->count);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_verdicts (JsonBuilder *to, GPtrArray *verdicts)
{
  begin_array (to, "verdicts");
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdictRow *verdict = verdicts->pdata[i];
    json_builder_begin_object (to);
    add_text (to, "fusion", verdict->fusion);
    add_text (to, "pass", verdict->pass);
    add_indexes (to, verdict->first_op, verdict->count);
    add_truth (to, "taken", verdict->taken);
    add_text (to, "reason", verdict->reason);
    add_text (to, "observed", verdict->observed);
    add_text (to, "required", verdict->required);
    add_text (to, "text", verdict->text);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_artifacts (JsonBuilder *to, GPtrArray *artifacts)
{
  begin_array (to, "artifacts");
  for (guint i = 0; i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    json_builder_begin_object (to);
    add_text (to, "kind", artifact->kind);
    add_text (to, "path", artifact->path);
    add_moment (to, "created", artifact->created);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

/* Straight into the text: a long run has millions of numbers. */
static void
append_metric (GString *to, const LigReportMetric *metric)
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
  add_row (builder, run->row);
  add_fusions (builder, run->fusions);
  add_verdicts (builder, run->verdicts);
  add_timings (builder, run->timings);
  add_artifacts (builder, run->artifacts);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *text = lig_json_to_text (root);
  /* The metrics follow before the last brace and the line feed that it stands behind. */
  g_string_append_len (to, text, (gssize) strlen (text) - 2);
  g_string_append (to, ",\n  \"metrics\": {");
  for (guint i = 0; i < run->metrics->len; i++) {
    g_string_append (to, i > 0 ? "," : "");
    append_metric (to, run->metrics->pdata[i]);
  }
  g_string_append (to, run->metrics->len > 0 ? "\n  }\n}\n" : "}\n}\n");
  return TRUE;
}

LIG_REPORT_FORMAT (json) = {
  .name = "json",
  .title = N_ ("JSON"),
  .help = N_ ("The whole plan, for programs"),
  .plan = write_plan,
  .run = write_run,
};
