/* SPDX-License-Identifier: MIT */
/* `lig runs export`: writes all metrics of a run as CSV, one column per metric, or as JSON. */
#include "app/cli/runs.h"

#include <ligature/csv.h>
#include <ligature/report.h>

/* Finds the smallest step after the positions of all metrics. Returns FALSE after the last step. */
static gboolean
get_next_step (GPtrArray *metrics, const guint *positions, gint64 *step)
{
  gboolean found = FALSE;
  for (guint i = 0; i < metrics->len; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    if (positions[i] == metric->steps->len)
      continue;
    gint64 next = g_array_index (metric->steps, gint64, positions[i]);
    *step = found ? MIN (*step, next) : next;
    found = TRUE;
  }
  return found;
}

/* Writes one line per step; the cell of a metric without a value at the step is empty. */
static GString *
make_csv (GPtrArray *metrics)
{
  GString *text = g_string_new ("step");
  g_autofree guint *positions = g_new0 (guint, metrics->len + 1);
  gint64 step = 0;
  for (guint i = 0; i < metrics->len; i++) {
    g_string_append_c (text, ',');
    lig_csv_append_text (text, ((const LigMetricRow *) metrics->pdata[i])->name);
  }
  g_string_append_c (text, '\n');
  while (get_next_step (metrics, positions, &step)) {
    g_string_append_printf (text, "%" G_GINT64_FORMAT, step);
    for (guint i = 0; i < metrics->len; i++) {
      const LigMetricRow *metric = metrics->pdata[i];
      g_string_append_c (text, ',');
      if (positions[i] < metric->steps->len &&
          g_array_index (metric->steps, gint64, positions[i]) == step)
        lig_csv_append_number (text, g_array_index (metric->values, double, positions[i]++));
    }
    g_string_append_c (text, '\n');
  }
  return text;
}

/* Writes CSV, or for .json the run's report. */
static gboolean
write_file (LigStore *store, const LigRunRow *row, const char *output, guint *count, GError **error)
{
  g_autoptr (GPtrArray) metrics = lig_store_get_metrics (store, row->uuid, error);
  if (!metrics)
    return FALSE;
  *count = metrics->len;
  if (!g_str_has_suffix (output, ".csv"))
    return lig_report_write_run (store, row->uuid, output, error);
  g_autoptr (GBytes) text = g_string_free_to_bytes (make_csv (metrics));
  return lig_report_save (text, output, error);
}

int
lig_runs_export (LigStore *store, const char *run, const char *output)
{
  GError *error = NULL;
  guint count = 0;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, run, "train", &error);
  if (!row || !write_file (store, row, output, &count, &error))
    return lig_cli_fail (error);
  if (!lig_cli_json ())
    return LIG_EXIT_OK;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "run", row->uuid);
  lig_json_add_text (builder, "output", output);
  lig_json_add_integer (builder, "metrics", count);
  json_builder_end_object (builder);
  lig_cli_print_document ("runs-export", json_builder_get_root (builder));
  return LIG_EXIT_OK;
}
