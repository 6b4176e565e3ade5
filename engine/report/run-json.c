/* SPDX-License-Identifier: MIT */
/* A run as JSON: the members that reports and commands share, and the document of
 * `lig runs show`. */
#include "engine/base/json-private.h"
#include "engine/report/picture.h"
#include <ligature/json-members.h>
#include <ligature/run.h>
#include <ligature/store-sweeps.h>
#include <ligature/store.h>

#include <json-glib/json-glib.h>

#include <math.h>
#include <string.h>

void
lig_report_add_row (JsonBuilder *to, const LigRunRow *row)
{
  lig_json_add_text (to, "run", row->uuid);
  lig_json_add_text (to, "name", row->name);
  lig_json_add_text (to, "status", row->status);
  lig_json_add_text (to, "message", *row->message ? row->message : NULL);
  lig_json_add_text (to, "kind", row->kind);
  lig_json_add_text (to, "device", row->device);
  lig_json_add_text (to, "dtype", row->dtype);
  lig_json_add_text (to, "recipe", row->recipe);
  lig_json_add_text (to, "policy", row->policy);
  lig_json_add_unsigned (to, "seed", row->seed);
  lig_json_add_moment (to, "started", row->started);
  lig_json_add_moment (to, "ended", row->ended);
  lig_json_add_text (to, "host", row->host);
  if (row->last_step < 0)
    lig_json_add_text (to, "last_step", NULL);
  else
    lig_json_add_integer (to, "last_step", row->last_step);
  lig_json_begin_object (to, "loss");
  lig_json_add_number (to, "first", row->first_loss);
  lig_json_add_number (to, "last", row->last_loss);
  json_builder_end_object (to);
  lig_json_begin_object (to, "eval");
  lig_json_add_number (to, "loss", row->eval_loss);
  lig_json_add_number (to, "accuracy", row->eval_accuracy);
  json_builder_end_object (to);
  lig_json_add_truth (to, "starred", row->starred);
  lig_json_begin_array (to, "tags");
  for (char **tag = row->tags; tag && *tag; tag++)
    json_builder_add_string_value (to, *tag);
  json_builder_end_array (to);
  lig_json_add_text (to, "notes", row->notes);
  lig_json_add_text (to, "sweep", *row->sweep ? row->sweep : NULL);
  if (row->point < 0)
    lig_json_add_text (to, "point", NULL);
  else
    lig_json_add_integer (to, "point", row->point);
}

void
lig_report_add_origin (JsonBuilder *to, const LigRunRow *row)
{
  lig_json_add_text (to, "revision", *row->revision ? row->revision : NULL);
  lig_json_add_text (to, "parent", *row->parent ? row->parent : NULL);
  lig_json_add_document (to, "settings", row->settings);
  lig_json_add_document (to, "versions", row->versions);
  lig_json_add_document (to, "sequence", row->sequence);
}

void
lig_report_add_verdicts (JsonBuilder *to, GPtrArray *verdicts)
{
  lig_json_begin_array (to, "verdicts");
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdictRow *verdict = verdicts->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "fusion", verdict->fusion);
    lig_json_add_text (to, "pass", verdict->pass);
    lig_json_add_range (to, "ops", verdict->first_op, verdict->count);
    lig_json_add_truth (to, "taken", verdict->taken);
    lig_json_add_text (to, "reason", verdict->reason);
    lig_json_add_text (to, "observed", verdict->observed);
    lig_json_add_text (to, "required", verdict->required);
    lig_json_add_text (to, "text", verdict->text);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

void
lig_report_add_samples (JsonBuilder *to, GPtrArray *samples)
{
  lig_json_begin_array (to, "samples");
  for (guint i = 0; i < samples->len; i++) {
    const LigSampleRow *sample = samples->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_integer (to, "step", sample->step);
    lig_json_add_integer (to, "number", sample->number);
    lig_json_add_text (to, "prompt", sample->prompt);
    lig_json_add_text (to, "text", sample->text);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

void
lig_report_add_artifacts (JsonBuilder *to, GPtrArray *artifacts)
{
  lig_json_begin_array (to, "artifacts");
  for (guint i = 0; i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "kind", artifact->kind);
    lig_json_add_text (to, "path", artifact->path);
    lig_json_add_moment (to, "created", artifact->created);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_metrics (JsonBuilder *to, GPtrArray *metrics)
{
  lig_json_begin_array (to, "metrics");
  for (guint i = 0; i < metrics->len; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    const double *values = (const double *) (gpointer) metric->values->data;
    guint count = metric->values->len;
    json_builder_begin_object (to);
    lig_json_add_text (to, "name", metric->name);
    lig_json_add_integer (to, "count", count);
    lig_json_add_number (to, "first", values[0]);
    lig_json_add_number (to, "last", values[count - 1]);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_groups (JsonBuilder *to, GPtrArray *fusions, const char *pass)
{
  lig_json_begin_array (to, pass);
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    if (strcmp (fusion->pass, pass) != 0)
      continue;
    json_builder_begin_object (to);
    lig_json_add_text (to, "fusion", fusion->fusion);
    lig_json_add_range (to, "ops", fusion->first_op, fusion->count);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

JsonNode *
lig_run_row_to_json (const LigRunRow *row)
{
  g_return_val_if_fail (row, NULL);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_report_add_row (builder, row);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

/* Returns FALSE if the step time or the plan is unknown. */
static gboolean
find_use (LigStore *store, const LigRunRow *row, LigUse *use)
{
  g_autofree char *note = NULL;
  g_auto (LigRunSettings) settings;
  g_auto (LigReportRun) run = {.row = lig_run_row_copy (row),
                               .file = g_strdup (lig_store_get_path (store)),
                               .inputs = lig_store_get_inputs (store, row->uuid, NULL),
                               .timings = lig_store_get_timings (store, row->uuid, NULL),
                               .fusions = lig_store_get_fusions (store, row->uuid, NULL)};
  lig_run_settings_init (&settings);
  if (!(row->step_ms > 0) || !run.timings || !run.fusions)
    return FALSE;
  lig_run_settings_read_record (&settings, row->settings, NULL);
  g_autoptr (LigPlan) plan = lig_report_rebuild (&run, &note);
  gint64 batches = g_str_equal (row->kind, "train") ? MAX (settings.accumulate, 1) : 1;
  if (plan)
    lig_figures_use_in (plan, row->step_ms * 1e-3 / (double) batches, use);
  return plan != NULL;
}

char *
lig_run_describe_use (LigStore *store, const LigRunRow *row)
{
  LigUse use;
  g_return_val_if_fail (LIG_IS_STORE (store) && row, NULL);
  return find_use (store, row, &use) ? lig_figures_use_text (&use) : NULL;
}

/* Adds null for what is unknown. */
static void
add_use (JsonBuilder *to, LigStore *store, const LigRunRow *row)
{
  LigUse use = {.per_second = NAN, .mfu = NAN};
  gboolean known = find_use (store, row, &use);
  json_builder_set_member_name (to, "tokens");
  if (known)
    json_builder_add_boolean_value (to, use.tokens);
  else
    json_builder_add_null_value (to);
  lig_json_add_number (to, "rows_per_second", use.per_second);
  lig_json_add_number (to, "mfu", use.mfu);
}

JsonNode *
lig_run_to_json (LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && run, NULL);
  g_auto (LigReportRun) contents = {0};
  if (!lig_report_read_run (&contents, store, run, error))
    return NULL;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_report_add_row (builder, contents.row);
  lig_report_add_origin (builder, contents.row);
  lig_json_add_document (builder, "inputs", contents.inputs ? contents.inputs : "");
  add_use (builder, store, contents.row);
  add_metrics (builder, contents.metrics);
  lig_report_add_spreads (builder, contents.spreads);
  lig_report_add_errors (builder, contents.errors);
  add_groups (builder, contents.fusions, "forward");
  add_groups (builder, contents.fusions, "backward");
  lig_report_add_verdicts (builder, contents.verdicts);
  lig_report_add_samples (builder, contents.samples);
  lig_report_add_loads (builder, contents.loads);
  lig_report_add_artifacts (builder, contents.artifacts);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
