/* SPDX-License-Identifier: MIT */
/* `lig runs export`: all metrics of a run as CSV, one column per metric, or as JSON. */
#include "app/cli/runs.h"

#include <ligature/json.h>

#include <math.h>
#include <string.h>

/* The shortest text that reads back as the same number, whatever the language. */
static void
append_number (GString *to, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (text, sizeof text, "%.15g", value);
  if (g_ascii_strtod (text, NULL) != value)
    g_ascii_dtostr (text, sizeof text, value);
  g_string_append (to, isnan (value) ? "nan" : text);
}

static void
append_name (GString *to, const char *name)
{
  if (!strpbrk (name, ",\"\r\n")) {
    g_string_append (to, name);
    return;
  }
  g_auto (GStrv) parts = g_strsplit (name, "\"", -1);
  g_autofree char *quoted = g_strjoinv ("\"\"", parts);
  g_string_append_printf (to, "\"%s\"", quoted);
}

/* The least step that any metric has not given yet; FALSE at the end of all. */
static gboolean
get_next_step (GPtrArray *metrics, const guint *positions, gint64 *step)
{
  gboolean found = FALSE;
  for (guint i = 0; i < metrics->len; i++) {
    const LigRunCurve *metric = metrics->pdata[i];
    if (positions[i] == metric->steps->len)
      continue;
    gint64 next = g_array_index (metric->steps, gint64, positions[i]);
    *step = found ? MIN (*step, next) : next;
    found = TRUE;
  }
  return found;
}

/* One line per step; a metric that has no value there leaves its cell empty. */
static GString *
make_csv (GPtrArray *metrics)
{
  GString *text = g_string_new ("step");
  g_autofree guint *positions = g_new0 (guint, metrics->len + 1);
  gint64 step = 0;
  for (guint i = 0; i < metrics->len; i++) {
    g_string_append_c (text, ',');
    append_name (text, ((const LigRunCurve *) metrics->pdata[i])->name);
  }
  g_string_append_c (text, '\n');
  while (get_next_step (metrics, positions, &step)) {
    g_string_append_printf (text, "%" G_GINT64_FORMAT, step);
    for (guint i = 0; i < metrics->len; i++) {
      const LigRunCurve *metric = metrics->pdata[i];
      g_string_append_c (text, ',');
      if (positions[i] < metric->steps->len &&
          g_array_index (metric->steps, gint64, positions[i]) == step)
        append_number (text, g_array_index (metric->values, double, positions[i]++));
    }
    g_string_append_c (text, '\n');
  }
  return text;
}

static void
add_metric (JsonBuilder *to, const LigRunCurve *metric)
{
  json_builder_set_member_name (to, metric->name);
  json_builder_begin_object (to);
  json_builder_set_member_name (to, "steps");
  json_builder_begin_array (to);
  for (guint i = 0; i < metric->steps->len; i++)
    json_builder_add_int_value (to, g_array_index (metric->steps, gint64, i));
  json_builder_end_array (to);
  json_builder_set_member_name (to, "values");
  json_builder_begin_array (to);
  for (guint i = 0; i < metric->values->len; i++)
    lig_runs_add_number (to, g_array_index (metric->values, double, i));
  json_builder_end_array (to);
  json_builder_end_object (to);
}

static GString *
make_json (const LigRunRow *row, GPtrArray *metrics)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_runs_add_run (builder, row);
  lig_runs_set_json (builder, "settings", row->settings);
  lig_runs_set_json (builder, "versions", row->versions);
  lig_runs_set_json (builder, "sequence", row->sequence);
  json_builder_set_member_name (builder, "metrics");
  json_builder_begin_object (builder);
  for (guint i = 0; i < metrics->len; i++)
    add_metric (builder, metrics->pdata[i]);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  GString *result = g_string_new (NULL);
  lig_json_append (result, root);
  return g_string_append_c (result, '\n');
}

int
lig_runs_export (LigStore *store, const char *run, const char *output)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, run, "train", &error);
  g_autoptr (GPtrArray) metrics = row ? lig_runs_read_metrics (store, row->uuid, &error) : NULL;
  if (!metrics)
    return lig_cli_fail (error);
  gboolean csv = g_str_has_suffix (output, ".csv");
  g_autoptr (GString) text = csv ? make_csv (metrics) : make_json (row, metrics);
  if (!g_file_set_contents (output, text->str, text->len, &error))
    return lig_cli_fail (error);
  if (!lig_cli_json ())
    return LIG_EXIT_OK;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_runs_set_string (builder, "run", row->uuid);
  lig_runs_set_string (builder, "output", output);
  lig_runs_set_integer (builder, "metrics", metrics->len);
  json_builder_end_object (builder);
  lig_cli_print_json (json_builder_get_root (builder));
  return LIG_EXIT_OK;
}
