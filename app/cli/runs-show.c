/* SPDX-License-Identifier: MIT */
/* `lig runs show`, and how runs are put into JSON and tables. */
#include "app/cli/runs.h"

#include <ligature/json.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* JSON has no NaN and no infinity. */
void
lig_runs_add_number (JsonBuilder *to, double value)
{
  if (isfinite (value))
    json_builder_add_double_value (to, value);
  else
    json_builder_add_null_value (to);
}

void
lig_runs_set_number (JsonBuilder *to, const char *name, double value)
{
  json_builder_set_member_name (to, name);
  lig_runs_add_number (to, value);
}

void
lig_runs_set_integer (JsonBuilder *to, const char *name, gint64 value)
{
  json_builder_set_member_name (to, name);
  json_builder_add_int_value (to, value);
}

void
lig_runs_set_string (JsonBuilder *to, const char *name, const char *value)
{
  json_builder_set_member_name (to, name);
  if (value)
    json_builder_add_string_value (to, value);
  else
    json_builder_add_null_value (to);
}

/* A time in microseconds since 1970, for programs: ISO 8601 in UTC, NULL for 0 and where no
 * calendar has it. */
static char *
format_moment (gint64 when)
{
  if (!when)
    return NULL;
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (when / G_USEC_PER_SEC);
  g_autoptr (GDateTime) exact = seconds ? g_date_time_add (seconds, when % G_USEC_PER_SEC) : NULL;
  return exact ? g_date_time_format_iso8601 (exact) : NULL;
}

/* The same for people. */
char *
lig_runs_format_started (gint64 when)
{
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  return moment ? g_date_time_format (moment, "%Y-%m-%d %H:%M:%S") : g_strdup ("-");
}

char *
lig_runs_format_number (double value)
{
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.6g", value);
}

/* A text that the store holds is put in as JSON if it is, else as a string. */
void
lig_runs_set_json (JsonBuilder *to, const char *name, const char *text)
{
  JsonNode *node = *text ? lig_json_from_text (text, NULL) : NULL;
  if (node) {
    json_builder_set_member_name (to, name);
    json_builder_add_value (to, node);
  } else {
    lig_runs_set_string (to, name, *text ? text : NULL);
  }
}

GPtrArray *
lig_runs_new_table (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
}

/* What a person said of the run. */
static void
add_marks (JsonBuilder *to, const LigRunRow *row)
{
  json_builder_set_member_name (to, "starred");
  json_builder_add_boolean_value (to, row->starred);
  json_builder_set_member_name (to, "tags");
  json_builder_begin_array (to);
  for (char **t = row->tags; *t; t++)
    json_builder_add_string_value (to, *t);
  json_builder_end_array (to);
  lig_runs_set_string (to, "notes", row->notes);
}

/* The members that every command prints of a run; the object stays open. */
void
lig_runs_add_run (JsonBuilder *to, const LigRunRow *row)
{
  g_autofree char *started = format_moment (row->started);
  g_autofree char *ended = format_moment (row->ended);
  json_builder_begin_object (to);
  lig_runs_set_string (to, "run", row->uuid);
  lig_runs_set_string (to, "name", row->name);
  lig_runs_set_string (to, "status", row->status);
  lig_runs_set_string (to, "message", *row->message ? row->message : NULL);
  lig_runs_set_string (to, "kind", row->kind);
  lig_runs_set_string (to, "device", row->device);
  lig_runs_set_string (to, "dtype", row->dtype);
  lig_runs_set_string (to, "recipe", row->recipe);
  lig_runs_set_string (to, "policy", row->policy);
  /* json-glib's integers are signed; a larger seed must not become a negative one. */
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  if (row->seed > G_MAXINT64)
    lig_runs_set_string (to, "seed", seed);
  else
    lig_runs_set_integer (to, "seed", (gint64) row->seed);
  lig_runs_set_string (to, "started", started);
  lig_runs_set_string (to, "ended", ended);
  lig_runs_set_string (to, "host", row->host);
  json_builder_set_member_name (to, "last_step");
  if (row->last_step < 0)
    json_builder_add_null_value (to);
  else
    json_builder_add_int_value (to, row->last_step);
  json_builder_set_member_name (to, "loss");
  json_builder_begin_object (to);
  lig_runs_set_number (to, "first", row->first_loss);
  lig_runs_set_number (to, "last", row->last_loss);
  json_builder_end_object (to);
  json_builder_set_member_name (to, "eval");
  json_builder_begin_object (to);
  lig_runs_set_number (to, "loss", row->eval_loss);
  lig_runs_set_number (to, "accuracy", row->eval_accuracy);
  json_builder_end_object (to);
  add_marks (to, row);
}

static void
free_metric (gpointer data)
{
  LigRunCurve *metric = data;
  g_free (metric->name);
  g_clear_pointer (&metric->steps, g_array_unref);
  g_clear_pointer (&metric->values, g_array_unref);
  g_free (metric);
}

double
lig_runs_get_last (const LigRunCurve *metric)
{
  guint n = metric->values->len;
  return n ? g_array_index (metric->values, double, n - 1) : NAN;
}

GPtrArray *
lig_runs_read_metrics (LigStore *store, const char *run, GError **error)
{
  g_autoptr (GPtrArray) metrics = g_ptr_array_new_with_free_func (free_metric);
  g_auto (GStrv) names = lig_store_get_metric_names (store, run, error);
  if (!names)
    return NULL;
  for (char **name = names; *name; name++) {
    LigRunCurve *metric = g_new0 (LigRunCurve, 1);
    metric->name = g_strdup (*name);
    g_ptr_array_add (metrics, metric);
    if (!lig_store_get_metric (store, run, *name, &metric->steps, &metric->values, error))
      return NULL;
    /* A name that is no text in the database finds nothing under what can be read of it. */
    if (metric->values->len == 0)
      g_ptr_array_set_size (metrics, (int) metrics->len - 1);
  }
  return g_steal_pointer (&metrics);
}

/* What a run reported, as `runs show` prints it. */
typedef struct {
  GPtrArray *metrics, *fusions, *verdicts, *artifacts;
} Details;

static void
clear_details (Details *details)
{
  g_clear_pointer (&details->metrics, g_ptr_array_unref);
  g_clear_pointer (&details->fusions, g_ptr_array_unref);
  g_clear_pointer (&details->verdicts, g_ptr_array_unref);
  g_clear_pointer (&details->artifacts, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Details, clear_details)

static void
add_metrics (JsonBuilder *to, GPtrArray *metrics)
{
  json_builder_set_member_name (to, "metrics");
  json_builder_begin_array (to);
  for (guint i = 0; i < metrics->len; i++) {
    const LigRunCurve *metric = metrics->pdata[i];
    json_builder_begin_object (to);
    lig_runs_set_string (to, "name", metric->name);
    lig_runs_set_integer (to, "count", metric->values->len);
    lig_runs_set_number (to, "first", g_array_index (metric->values, double, 0));
    lig_runs_set_number (to, "last", lig_runs_get_last (metric));
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_groups (JsonBuilder *to, GPtrArray *fusions, const char *pass)
{
  json_builder_set_member_name (to, pass);
  json_builder_begin_array (to);
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    if (strcmp (fusion->pass, pass) != 0)
      continue;
    json_builder_begin_object (to);
    lig_runs_set_string (to, "fusion", fusion->fusion);
    json_builder_set_member_name (to, "ops");
    json_builder_begin_array (to);
    for (int op = 0; op < fusion->count; op++)
      json_builder_add_int_value (to, fusion->first_op + op);
    json_builder_end_array (to);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
add_verdicts (JsonBuilder *to, GPtrArray *verdicts)
{
  json_builder_set_member_name (to, "verdicts");
  json_builder_begin_array (to);
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdictRow *verdict = verdicts->pdata[i];
    json_builder_begin_object (to);
    lig_runs_set_string (to, "fusion", verdict->fusion);
    lig_runs_set_string (to, "pass", verdict->pass);
    json_builder_set_member_name (to, "ops");
    json_builder_begin_array (to);
    for (int op = 0; op < verdict->count; op++)
      json_builder_add_int_value (to, verdict->first_op + op);
    json_builder_end_array (to);
    json_builder_set_member_name (to, "taken");
    json_builder_add_boolean_value (to, verdict->taken);
    lig_runs_set_string (to, "reason", verdict->reason);
    lig_runs_set_string (to, "observed", verdict->observed);
    lig_runs_set_string (to, "required", verdict->required);
    lig_runs_set_string (to, "text", verdict->text);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
print_details_json (const LigRunRow *row, const Details *details)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_runs_add_run (builder, row);
  lig_runs_set_string (builder, "revision", *row->revision ? row->revision : NULL);
  lig_runs_set_string (builder, "parent", *row->parent ? row->parent : NULL);
  lig_runs_set_json (builder, "settings", row->settings);
  lig_runs_set_json (builder, "versions", row->versions);
  lig_runs_set_json (builder, "sequence", row->sequence);
  add_metrics (builder, details->metrics);
  add_groups (builder, details->fusions, "forward");
  add_groups (builder, details->fusions, "backward");
  add_verdicts (builder, details->verdicts);
  json_builder_set_member_name (builder, "artifacts");
  json_builder_begin_array (builder);
  for (guint i = 0; i < details->artifacts->len; i++) {
    const LigArtifactRow *artifact = details->artifacts->pdata[i];
    json_builder_begin_object (builder);
    lig_runs_set_string (builder, "kind", artifact->kind);
    lig_runs_set_string (builder, "path", artifact->path);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_json (json_builder_get_root (builder));
}

static void
print_line (const char *label, const char *text)
{
  if (text && *text)
    lig_cli_print ("%-10s %s", label, text);
}

static void
print_metrics (GPtrArray *metrics)
{
  static const char *const header[] = {"metric", ">values", ">first", ">last", NULL};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; i < metrics->len; i++) {
    const LigRunCurve *metric = metrics->pdata[i];
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strdup (metric->name);
    cells[1] = g_strdup_printf ("%u", metric->values->len);
    cells[2] = lig_runs_format_number (g_array_index (metric->values, double, 0));
    cells[3] = lig_runs_format_number (lig_runs_get_last (metric));
    g_ptr_array_add (table, cells);
  }
  if (table->len)
    lig_cli_print_table (header, table);
}

static void
print_details (const LigRunRow *row, const Details *details)
{
  g_autofree char *tags = g_strjoinv (" ", row->tags);
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  g_autofree char *started = lig_runs_format_started (row->started);
  g_autofree char *ended = row->ended ? lig_runs_format_started (row->ended) : NULL;
  const char *const lines[][2] = {
    {"run", row->uuid},
    {"name", row->name},
    {"status", row->status},
    {"message", row->message},
    {"kind", row->kind},
    {"device", row->device},
    {"dtype", row->dtype},
    {"recipe", row->recipe},
    {"policy", row->policy},
    {"seed", seed},
    {"started", started},
    {"ended", ended},
    {"host", row->host},
    {"revision", row->revision},
    {"settings", row->settings},
    {"versions", row->versions},
    {"tags", tags},
    {"notes", row->notes},
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    print_line (lines[i][0], lines[i][1]);
  print_line ("parent", row->parent);
  for (guint i = 0; i < details->artifacts->len; i++) {
    const LigArtifactRow *artifact = details->artifacts->pdata[i];
    print_line (artifact->kind, artifact->path);
  }
  print_metrics (details->metrics);
  for (guint i = 0; i < details->verdicts->len; i++) {
    const LigVerdictRow *verdict = details->verdicts->pdata[i];
    print_line (verdict->taken ? "fused" : "not fused", verdict->text);
  }
}

int
lig_runs_show (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_auto (Details) details = {0};
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  if (!row || !(details.metrics = lig_runs_read_metrics (store, row->uuid, &error)) ||
      !(details.fusions = lig_store_get_fusions (store, row->uuid, &error)) ||
      !(details.verdicts = lig_store_get_verdicts (store, row->uuid, &error)) ||
      !(details.artifacts = lig_store_get_artifacts (store, row->uuid, &error)))
    return lig_cli_fail (error);
  if (lig_cli_json ())
    print_details_json (row, &details);
  else
    print_details (row, &details);
  return LIG_EXIT_OK;
}
