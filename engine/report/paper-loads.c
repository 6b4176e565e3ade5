/* SPDX-License-Identifier: MIT */
/* The load of a run's experts. */
#include "engine/report/format.h"
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include <ligature/json-members.h>
#include <ligature/report.h>
#include <ligature/store-loads.h>

#include <json-glib/json-glib.h>
#include <math.h>

/* --- Text ---------------------------------------------------------------------------------- */

static void
append_row (LigPaper *to, const LigLoadSeries *series)
{
  LigLoadFigures figures;
  g_autofree double *load = g_new (double, MAX (series->experts, 1));
  lig_load_series_sum (series, 0, G_MAXUINT, load, &figures);
  g_autofree char *experts = g_strdup_printf ("%u", series->experts);
  g_autofree char *imbalance = lig_report_number (figures.imbalance);
  g_autofree char *busiest = g_strdup_printf ("%u", figures.busiest);
  g_autofree char *idle = g_strdup_printf ("%u", figures.idle);
  g_autofree char *dropped = g_strdup_printf ("%.0f", figures.dropped);
  g_autofree char *balance = lig_report_number (lig_load_series_last (series->balance));
  g_autofree char *z = lig_report_number (lig_load_series_last (series->z));
  lig_paper_row (to, series->path, experts, imbalance, busiest, idle, dropped, balance, z, NULL);
}

void
lig_paper_loads (LigPaper *to, const LigReportRun *run)
{
  GPtrArray *all = run->loads;
  if (all->len == 0)
    return;
  lig_paper_heading (to, _ ("Experts"));
  lig_paper_figure (to, LIG_FIGURE_LOADS);
  lig_paper_head (to, _ ("Router|>Experts|>Imbalance|>Busiest expert|>Idle|>Dropped|>Balance "
                         "loss at the end|>Z-loss at the end"));
  for (guint i = 0; i < lig_paper_rows (all->len); i++)
    append_row (to, all->pdata[i]);
  lig_paper_say_rest (to, all->len);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_numbers (JsonBuilder *to, const char *name, const GArray *values)
{
  lig_json_begin_array (to, name);
  for (guint i = 0; i < values->len; i++)
    if (isfinite (g_array_index (values, double, i)))
      json_builder_add_double_value (to, g_array_index (values, double, i));
    else
      json_builder_add_null_value (to);
  json_builder_end_array (to);
}

/* Adds the load in all recorded steps. */
static void
add_sum (JsonBuilder *to, const LigLoadSeries *series)
{
  LigLoadFigures figures;
  g_autofree double *load = g_new (double, MAX (series->experts, 1));
  lig_load_series_sum (series, 0, G_MAXUINT, load, &figures);
  lig_json_add_text (to, "path", series->path);
  lig_json_add_integer (to, "experts", series->experts);
  lig_json_begin_array (to, "load");
  for (guint e = 0; e < series->experts; e++)
    json_builder_add_int_value (to, (gint64) load[e]);
  json_builder_end_array (to);
  lig_json_add_number (to, "imbalance", figures.imbalance);
  lig_json_add_integer (to, "busiest", figures.busiest);
  lig_json_add_integer (to, "idle", figures.idle);
  lig_json_add_integer (to, "dropped", (gint64) figures.dropped);
}

static void
add_series (JsonBuilder *to, const LigLoadSeries *series)
{
  json_builder_begin_object (to);
  add_sum (to, series);
  lig_json_begin_array (to, "steps");
  for (guint i = 0; i < series->steps->len; i++)
    json_builder_add_int_value (to, g_array_index (series->steps, gint64, i));
  json_builder_end_array (to);
  lig_json_begin_array (to, "loads");
  for (guint i = 0; i < series->steps->len; i++) {
    json_builder_begin_array (to);
    for (guint e = 0; e < series->experts; e++)
      json_builder_add_int_value (
        to, (gint64) g_array_index (series->loads, double, i * series->experts + e));
    json_builder_end_array (to);
  }
  json_builder_end_array (to);
  add_numbers (to, "balance", series->balance);
  add_numbers (to, "z", series->z);
  json_builder_end_object (to);
}

void
lig_report_add_loads (JsonBuilder *to, GPtrArray *loads)
{
  lig_json_begin_array (to, "experts");
  for (guint i = 0; i < loads->len; i++)
    add_series (to, loads->pdata[i]);
  json_builder_end_array (to);
}

JsonNode *
lig_run_loads_to_json (LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (store && run, NULL);
  g_autoptr (GPtrArray) loads = lig_store_get_loads (store, run, error);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  if (!loads)
    return NULL;
  json_builder_begin_array (builder);
  for (guint i = 0; i < loads->len; i++) {
    json_builder_begin_object (builder);
    add_sum (builder, loads->pdata[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  return json_builder_get_root (builder);
}
