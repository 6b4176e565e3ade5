/* SPDX-License-Identifier: MIT */
/* The table of a sweep: a line for each point; points that differ only in the seed share one. */
#include "app/cli/sweep-table.h"

#include "app/cli/duration.h"
#include "app/cli/print.h"
#include "app/cli/table.h"

#include <math.h>
#include <string.h>

static char *
format (const char *how, double value)
{
  return isfinite (value) ? g_strdup_printf (how, value) : g_strdup ("-");
}

static gboolean
is_seed (const LigSweepAxis *axis)
{
  return strcmp (axis->key, "seed") == 0;
}

/* The columns that only some sweeps have: the spread of several runs, and the accuracy. */
typedef struct {
  gboolean spread, accuracy;
} Columns;

static Columns
choose_columns (GPtrArray *summaries)
{
  Columns columns = {FALSE, FALSE};
  for (guint i = 0; i < summaries->len; i++) {
    const LigSweepSummary *summary = summaries->pdata[i];
    columns.spread = columns.spread || summary->points > 1;
    columns.accuracy = columns.accuracy || isfinite (summary->accuracy);
  }
  return columns;
}

static GStrv
make_header (const LigSweepAxis *axes, guint n_axes, gboolean validation, Columns columns)
{
  g_autoptr (GStrvBuilder) header = g_strv_builder_new ();
  for (guint i = 0; i < n_axes; i++) {
    g_autofree char *key = g_strconcat (">", axes[i].key, NULL);
    if (!columns.spread || !is_seed (&axes[i]))
      g_strv_builder_add (header, key);
  }
  g_strv_builder_add (header, validation ? ">validation loss" : ">loss");
  if (columns.spread)
    g_strv_builder_addv (header, (const char *[]){">std", ">min", ">max", ">runs", NULL});
  if (columns.accuracy)
    g_strv_builder_add (header, ">accuracy");
  g_strv_builder_addv (header,
                       (const char *[]){">step time", columns.spread ? "best run" : "run", NULL});
  return g_strv_builder_end (header);
}

static char *
format_run (const LigSweepPoint *point, guint results)
{
  if (results > 0)
    return g_strndup (point->run, 8);
  return g_strdup (point->status ? point->status : "missing");
}

static GStrv
make_row (LigSweep *sweep, const LigSweepSummary *summary, Columns columns)
{
  guint n_axes, count;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &n_axes);
  const LigSweepPoint *best = &lig_sweep_get_points (sweep, &count)[summary->best];
  g_autoptr (GPtrArray) cells = g_ptr_array_new ();
  for (guint i = 0; i < n_axes; i++)
    if (!columns.spread || !is_seed (&axes[i]))
      g_ptr_array_add (cells, g_strdup (summary->values[i]));
  g_ptr_array_add (cells, format ("%.4g", summary->mean));
  if (columns.spread) {
    g_ptr_array_add (cells, format ("%.2g", summary->std));
    g_ptr_array_add (cells, format ("%.4g", summary->min));
    g_ptr_array_add (cells, format ("%.4g", summary->greatest));
    g_ptr_array_add (cells, summary->count == summary->points
                              ? g_strdup_printf ("%u", summary->count)
                              : g_strdup_printf ("%u of %u", summary->count, summary->points));
  }
  if (columns.accuracy)
    g_ptr_array_add (cells, format ("%.1f %%", 100 * summary->accuracy));
  g_ptr_array_add (cells, isfinite (summary->step_ms) ? lig_cli_format_time (summary->step_ms / 1e3)
                                                      : g_strdup ("-"));
  g_ptr_array_add (cells, format_run (best, summary->count));
  g_ptr_array_add (cells, NULL);
  return (GStrv) g_ptr_array_free (g_steal_pointer (&cells), FALSE);
}

void
lig_cli_print_sweep (LigSweep *sweep)
{
  guint n_axes;
  const LigSweepAxis *axes = lig_sweep_get_axes (sweep, &n_axes);
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  Columns columns = choose_columns (summaries);
  const LigSweepSummary *first = summaries->pdata[0];
  g_auto (GStrv) header = make_header (axes, n_axes, first->validation || !first->count, columns);
  for (guint i = 0; i < summaries->len; i++)
    g_ptr_array_add (rows, make_row (sweep, summaries->pdata[i], columns));
  lig_cli_print_table ((const char *const *) header, rows);
  int best = lig_sweep_find_best (sweep);
  g_autofree char *settings = best >= 0 ? lig_sweep_describe_settings (sweep, (guint) best) : NULL;
  if (settings && *settings && summaries->len > 1)
    lig_cli_print (columns.spread ? "lowest mean: %s" : "lowest: %s", settings);
}
