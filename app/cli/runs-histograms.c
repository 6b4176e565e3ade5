/* SPDX-License-Identifier: MIT */
/* The last histograms of a run's weights and gradients in `lig runs show --histograms`. */
#include "app/cli/runs-show.h"

#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/store-histograms.h>

#include <math.h>

/* The maximum number of bins that a line shows, and the smallest share of a shown bin. */
enum { MAX_BINS = 32 };
#define MIN_SHARE 1e-3

static const LigHistogram *
get_last (const LigHistogramSeries *series)
{
  return &g_array_index (series->histograms, LigHistogram, series->histograms->len - 1);
}

/* Finds the bins that have a visible share in any of the histograms: all lines have the same. */
static void
find_range (GPtrArray *all, int *first, int *last)
{
  *first = LIG_HISTOGRAM_BINS;
  *last = -1;
  for (guint i = 0; i < all->len; i++) {
    const LigHistogram *histogram = get_last (all->pdata[i]);
    double visible = MIN_SHARE * (double) lig_histogram_get_total (histogram);
    for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++) {
      guint64 count = histogram->counts[0][bin] + histogram->counts[1][bin];
      if (count == 0 || (double) count < visible)
        continue;
      *first = MIN (*first, bin);
      *last = MAX (*last, bin);
    }
  }
  *first = MAX (*first, *last - MAX_BINS + 1);
}

/* Three digits: a histogram does not need more, and lines are long. */
static char *
format_figure (double value)
{
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.3g", value);
}

static char **
make_row (const LigHistogramSeries *series, int first, int last, gboolean odd)
{
  const LigHistogram *histogram = get_last (series);
  guint64 total = lig_histogram_get_total (histogram);
  char **cells = g_new0 (char *, 10);
  int n = 0;
  cells[n++] = g_strconcat ("  ", series->parameter, NULL);
  cells[n++] = g_strdup (series->gradient ? "gradient" : "weights");
  cells[n++] = format_figure (histogram->min);
  cells[n++] = format_figure (histogram->max);
  cells[n++] = format_figure (histogram->mean);
  cells[n++] = format_figure (histogram->rms);
  cells[n++] =
    g_strdup_printf ("%.3g %%", 100 * (double) histogram->zeros / (double) MAX (total, 1));
  if (odd)
    cells[n++] = g_strdup_printf ("%" G_GUINT64_FORMAT, histogram->nan + histogram->infinite);
  cells[n] = lig_histogram_to_sparkline (histogram, first, last);
  return cells;
}

static gboolean
has_odd (GPtrArray *all)
{
  for (guint i = 0; i < all->len; i++)
    if (get_last (all->pdata[i])->nan + get_last (all->pdata[i])->infinite > 0)
      return TRUE;
  return FALSE;
}

gboolean
lig_runs_print_histograms (LigStore *store, const LigRunRow *row, GError **error)
{
  g_autoptr (GPtrArray) all = lig_store_get_histograms (store, row->uuid, NULL, 1, error);
  int first, last;
  if (!all)
    return FALSE;
  if (all->len == 0) {
    lig_cli_say ("run %.8s has no histograms; lig train --histograms N records them", row->uuid);
    return TRUE;
  }
  find_range (all, &first, &last);
  gboolean odd = has_odd (all);
  g_autofree char *bins = last < 0 ? g_strdup ("")
                                   : g_strdup_printf ("2^%d … 2^%d", first - LIG_HISTOGRAM_BIAS,
                                                      last + 1 - LIG_HISTOGRAM_BIAS);
  const char *header[10] = {"  parameter", "values", ">min", ">max", ">mean", ">rms", ">zeros"};
  header[7] = odd ? ">not finite" : bins;
  header[8] = odd ? bins : NULL;
  const LigHistogramSeries *any = all->pdata[0];
  g_autofree char *title =
    g_strdup_printf ("Weights and gradients after step %" G_GINT64_FORMAT,
                     g_array_index (any->steps, gint64, any->steps->len - 1));
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  for (guint i = 0; i < all->len; i++)
    g_ptr_array_add (table, make_row (all->pdata[i], first, last, odd));
  lig_runs_print_title (title);
  lig_cli_print_table (header, table);
  return TRUE;
}
