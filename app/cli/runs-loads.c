/* SPDX-License-Identifier: MIT */
/* The load of a run's experts in `lig runs show`. */
#include "app/cli/runs-show.h"

#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/store-loads.h>

#include <math.h>

/* More experts would not fit on a line. */
enum { MAX_SHOWN = 64 };

/* Returns a character for each expert, from `.` for an idle one to `█` for twice the mean. */
static char *
format_load (const double *load, guint experts, double mean)
{
  static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  GString *text = g_string_new (NULL);
  for (guint e = 0; e < experts && experts <= MAX_SHOWN; e++) {
    double share = mean > 0 ? load[e] / mean / 2 : 0;
    g_string_append (text, load[e] > 0 ? bars[(int) CLAMP (share * 8, 0, 7)] : ".");
  }
  return g_string_free (text, FALSE);
}

static char *
format_last (const GArray *values)
{
  double value = lig_load_series_last (values);
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.3g", value);
}

static char **
make_row (const LigLoadSeries *series)
{
  LigLoadFigures figures;
  g_autofree double *load = g_new (double, MAX (series->experts, 1));
  char **cells = g_new0 (char *, 10);
  lig_load_series_sum (series, 0, G_MAXUINT, load, &figures);
  cells[0] = g_strconcat ("  ", series->path, NULL);
  cells[1] = g_strdup_printf ("%u", series->experts);
  cells[2] =
    isnan (figures.imbalance) ? g_strdup ("-") : g_strdup_printf ("%.3g ×", figures.imbalance);
  cells[3] = g_strdup_printf ("%u", figures.busiest);
  cells[4] = g_strdup_printf ("%u", figures.idle);
  cells[5] = g_strdup_printf ("%.0f", figures.dropped);
  cells[6] = format_last (series->balance);
  cells[7] = format_last (series->z);
  cells[8] = format_load (load, series->experts, figures.rows / MAX (series->experts, 1));
  return cells;
}

gboolean
lig_runs_print_loads (LigStore *store, const LigRunRow *row, GError **error)
{
  static const char *const header[] = {"  router", ">experts", ">imbalance", ">busiest", ">idle",
                                       ">dropped", ">balance", ">z-loss",    "~load",    NULL};
  g_autoptr (GPtrArray) all = lig_store_get_loads (store, row->uuid, error);
  g_autoptr (GPtrArray) table = NULL;
  if (!all || all->len == 0)
    return all != NULL;
  table = lig_runs_new_table ();
  for (guint i = 0; i < all->len; i++)
    g_ptr_array_add (table, make_row (all->pdata[i]));
  const LigLoadSeries *first = all->pdata[0];
  guint steps = first->steps->len;
  g_autofree char *title =
    g_strdup_printf ("Load of experts in %u recorded step%s%s", steps, LIG_ENDING (steps),
                     steps > 1 ? ", losses of the last" : "");
  lig_runs_print_title (title);
  lig_cli_print_fitted (header, table, lig_cli_text_width ());
  return TRUE;
}
