/* SPDX-License-Identifier: MIT */
/* `lig runs show`, and the tables of runs. */
#include "app/cli/runs.h"

#include <ligature/report.h>

#include <math.h>

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

GPtrArray *
lig_runs_new_table (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
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
    const LigMetricRow *metric = metrics->pdata[i];
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strdup (metric->name);
    cells[1] = g_strdup_printf ("%u", metric->values->len);
    cells[2] = lig_runs_format_number (g_array_index (metric->values, double, 0));
    cells[3] =
      lig_runs_format_number (g_array_index (metric->values, double, metric->values->len - 1));
    g_ptr_array_add (table, cells);
  }
  if (table->len)
    lig_cli_print_table (header, table);
}

static void
print_details (const LigRunRow *row, GPtrArray *metrics, GPtrArray *verdicts, GPtrArray *artifacts)
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
  print_line ("sweep", row->sweep);
  for (guint i = 0; i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    print_line (artifact->kind, artifact->path);
  }
  print_metrics (metrics);
  for (guint i = 0; i < verdicts->len; i++) {
    const LigVerdictRow *verdict = verdicts->pdata[i];
    print_line (verdict->taken ? "fused" : "not fused", verdict->text);
  }
}

int
lig_runs_show (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  if (row && lig_cli_json ()) {
    JsonNode *document = lig_run_to_json (store, row->uuid, &error);
    if (!document)
      return lig_cli_fail (error);
    lig_cli_print_document ("runs-show", document);
    return LIG_EXIT_OK;
  }
  const char *run = row ? row->uuid : NULL;
  g_autoptr (GPtrArray) metrics = run ? lig_store_get_metrics (store, run, &error) : NULL;
  g_autoptr (GPtrArray) verdicts = metrics ? lig_store_get_verdicts (store, run, &error) : NULL;
  g_autoptr (GPtrArray) artifacts = verdicts ? lig_store_get_artifacts (store, run, &error) : NULL;
  if (!artifacts)
    return lig_cli_fail (error);
  print_details (row, metrics, verdicts, artifacts);
  return LIG_EXIT_OK;
}
