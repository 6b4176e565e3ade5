/* SPDX-License-Identifier: MIT */
/* The histograms of a run's weights and gradients. */
#include "engine/base/histogram-private.h"
#include "engine/report/format.h"
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include <ligature/json-members.h>
#include <ligature/store-histograms.h>

#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <math.h>

/* --- Text ---------------------------------------------------------------------------------- */

static const LigHistogram *
get_last (const LigHistogramSeries *series)
{
  return &g_array_index (series->histograms, LigHistogram, series->histograms->len - 1);
}

static char *
format_share (guint64 count, const LigHistogram *of)
{
  guint64 total = lig_histogram_get_total (of);
  return g_strdup_printf ("%.4g %%", total > 0 ? 100 * (double) count / (double) total : 0);
}

static void
append_row (LigPaper *to, const LigHistogramSeries *series)
{
  const LigHistogram *last = get_last (series);
  g_autofree char *min = lig_report_number (last->min);
  g_autofree char *max = lig_report_number (last->max);
  g_autofree char *mean = lig_report_number (last->mean);
  g_autofree char *rms = lig_report_number (last->rms);
  g_autofree char *zeros = format_share (last->zeros, last);
  g_autofree char *odd = g_strdup_printf ("%" PRIu64, last->nan + last->infinite);
  lig_paper_row (to, series->parameter, series->gradient ? _ ("gradient") : _ ("weights"), min, max,
                 mean, rms, zeros, odd, NULL);
}

void
lig_paper_histograms (LigPaper *to, const LigReportRun *run)
{
  GPtrArray *all = run->histograms;
  if (all->len == 0)
    return;
  lig_paper_heading (to, _ ("Weights and gradients"));
  if (lig_paper_figure (to, LIG_FIGURE_HISTOGRAMS)) {
    lig_paper_say_rest (to, all->len);
    return;
  }
  const LigHistogramSeries *first = all->pdata[0];
  g_autofree char *step =
    g_strdup_printf ("%" PRId64, g_array_index (first->steps, gint64, first->steps->len - 1));
  g_autofree char *text = g_strdup_printf (_ ("Their values after step %s:"), step);
  lig_paper_say (to, text);
  lig_paper_head (
    to, _ ("Parameter|Values|>Smallest|>Largest|>Mean|>Root mean square|>Zeros|>Not finite"));
  for (guint i = 0; i < lig_paper_rows (all->len); i++)
    append_row (to, all->pdata[i]);
  lig_paper_say_rest (to, all->len);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_counts (JsonBuilder *to, const char *name, const LigHistogramSeries *series, gsize offset)
{
  lig_json_begin_array (to, name);
  for (guint i = 0; i < series->histograms->len; i++)
    json_builder_add_int_value (
      to, (gint64) G_STRUCT_MEMBER (guint64, &g_array_index (series->histograms, LigHistogram, i),
                                    offset));
  json_builder_end_array (to);
}

static void
add_figures (JsonBuilder *to, const char *name, const LigHistogramSeries *series, gsize offset)
{
  lig_json_begin_array (to, name);
  for (guint i = 0; i < series->histograms->len; i++) {
    double figure =
      G_STRUCT_MEMBER (double, &g_array_index (series->histograms, LigHistogram, i), offset);
    if (isfinite (figure))
      json_builder_add_double_value (to, figure);
    else
      json_builder_add_null_value (to);
  }
  json_builder_end_array (to);
}

/* Finds the bins that have values at any step. */
static void
find_bins (const LigHistogramSeries *series, int *first, int *last)
{
  *first = LIG_HISTOGRAM_BINS;
  *last = -1;
  for (guint i = 0; i < series->histograms->len; i++) {
    int from, to;
    if (!lig_histogram_find_bins (&g_array_index (series->histograms, LigHistogram, i), &from, &to))
      continue;
    *first = MIN (*first, from);
    *last = MAX (*last, to);
  }
}

static void
add_bins (JsonBuilder *to,
          const char *name,
          const LigHistogramSeries *series,
          int sign,
          int first,
          int last)
{
  lig_json_begin_array (to, name);
  for (guint i = 0; i < series->histograms->len; i++) {
    const LigHistogram *histogram = &g_array_index (series->histograms, LigHistogram, i);
    json_builder_begin_array (to);
    for (int bin = first; bin <= last; bin++)
      json_builder_add_int_value (to, (gint64) histogram->counts[sign][bin]);
    json_builder_end_array (to);
  }
  json_builder_end_array (to);
}

static void
add_series (JsonBuilder *to, const LigHistogramSeries *series)
{
  int first, last;
  find_bins (series, &first, &last);
  json_builder_begin_object (to);
  lig_json_add_text (to, "parameter", series->parameter);
  lig_json_add_truth (to, "gradient", series->gradient);
  lig_json_add_integer (to, "elements", (gint64) lig_histogram_get_total (get_last (series)));
  lig_json_begin_array (to, "steps");
  for (guint i = 0; i < series->steps->len; i++)
    json_builder_add_int_value (to, g_array_index (series->steps, gint64, i));
  json_builder_end_array (to);
  add_figures (to, "min", series, G_STRUCT_OFFSET (LigHistogram, min));
  add_figures (to, "max", series, G_STRUCT_OFFSET (LigHistogram, max));
  add_figures (to, "mean", series, G_STRUCT_OFFSET (LigHistogram, mean));
  add_figures (to, "rms", series, G_STRUCT_OFFSET (LigHistogram, rms));
  add_counts (to, "zeros", series, G_STRUCT_OFFSET (LigHistogram, zeros));
  add_counts (to, "nan", series, G_STRUCT_OFFSET (LigHistogram, nan));
  add_counts (to, "infinite", series, G_STRUCT_OFFSET (LigHistogram, infinite));
  lig_json_begin_array (to, "exponents");
  for (int bin = first; bin <= last; bin++)
    json_builder_add_int_value (to, bin - LIG_HISTOGRAM_BIAS);
  json_builder_end_array (to);
  add_bins (to, "positive", series, 0, first, last);
  add_bins (to, "negative", series, 1, first, last);
  json_builder_end_object (to);
}

static void
add_all (JsonBuilder *to, GPtrArray *histograms)
{
  json_builder_begin_array (to);
  for (guint i = 0; i < histograms->len; i++)
    add_series (to, histograms->pdata[i]);
  json_builder_end_array (to);
}

void
lig_report_add_histograms (JsonBuilder *to, GPtrArray *histograms)
{
  json_builder_set_member_name (to, "histograms");
  add_all (to, histograms);
}

JsonNode *
lig_run_histograms_to_json (LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (store && run, NULL);
  g_autoptr (GPtrArray) histograms = lig_store_get_histograms (store, run, NULL, 0, error);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  if (!histograms)
    return NULL;
  add_all (builder, histograms);
  return json_builder_get_root (builder);
}
