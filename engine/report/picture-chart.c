/* SPDX-License-Identifier: MIT */
/* The charts of a run: related curves share a chart, other metrics have their own. */
#include "engine/report/picture.h"

#include <glib/gi18n-lib.h>

/* The known charts. Each metric that is missing here has its own chart. */
static const struct {
  const char *title, *metrics[2], *labels[2], *unit;
  gboolean noisy; /* drawn smoothed */
} known[] = {
  {N_ ("Loss"),
   {LIG_METRIC_LOSS, LIG_METRIC_EVAL_LOSS},
   {N_ ("training"), N_ ("validation loss")},
   NULL,
   TRUE},
  {N_ ("Validation accuracy"), {LIG_METRIC_EVAL_ACCURACY}, {N_ ("validation loss")}, NULL, FALSE},
  {N_ ("Step time"), {"step-ms"}, {N_ ("step time")}, N_ ("milliseconds"), TRUE},
  {N_ ("Waits of ranks"),
   {LIG_METRIC_EXPOSED, LIG_METRIC_IMBALANCE},
   {N_ ("for collectives"), N_ ("for the slowest rank")},
   N_ ("milliseconds"),
   TRUE},
  {N_ ("Learning rate"), {"learning-rate"}, {N_ ("learning rate")}, NULL, FALSE},
  {N_ ("Gradient norm"), {"gradient-norm"}, {N_ ("gradient norm")}, NULL, TRUE},
  {N_ ("Imbalance of experts"),
   {"expert-imbalance"},
   {N_ ("busiest expert by the mean")},
   NULL,
   FALSE},
  {N_ ("Dropped rows"), {"dropped-rows"}, {N_ ("rows without room in their expert")}, NULL, FALSE},
  {N_ ("Losses of routers"),
   {"aux-loss", "z-loss"},
   {N_ ("balance loss"), N_ ("z-loss")},
   NULL,
   FALSE},
};

/* A chart with the curves found so far. */
typedef struct {
  const char *title, *unit, *labels[2];
  const LigMetricRow *metrics[2];
  guint count;
  gboolean noisy;
} Curves;

/* Returns whether the metric belongs to one of the known charts. */
static gboolean
is_known (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    for (guint j = 0; j < G_N_ELEMENTS (known[i].metrics); j++)
      if (g_strcmp0 (known[i].metrics[j], name) == 0)
        return TRUE;
  return FALSE;
}

/* Finds chart number n. Returns FALSE after the last. */
static gboolean
find_chart (const LigReportRun *run, guint n, Curves *chart)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    *chart = (Curves){.title = _ (known[i].title),
                      .unit = known[i].unit ? _ (known[i].unit) : NULL,
                      .noisy = known[i].noisy};
    for (guint j = 0; j < 2 && known[i].metrics[j]; j++) {
      chart->labels[chart->count] = _ (known[i].labels[j]);
      chart->metrics[chart->count] = lig_report_find_metric (run, known[i].metrics[j]);
      chart->count += chart->metrics[chart->count] != NULL;
    }
    if (chart->count > 0 && n-- == 0)
      return TRUE;
  }
  for (guint i = 0; i < run->metrics->len; i++) {
    const LigMetricRow *metric = run->metrics->pdata[i];
    *chart =
      (Curves){.title = metric->name, .labels = {metric->name}, .metrics = {metric}, .count = 1};
    if (!is_known (metric->name) && n-- == 0)
      return TRUE;
  }
  return FALSE;
}

guint
lig_picture_count_charts (const LigReportRun *run)
{
  Curves curves;
  guint count = 0;
  while (find_chart (run, count, &curves))
    count++;
  return count;
}

void
lig_picture_draw_chart (const LigReportRun *run,
                        guint n,
                        LigCanvas *canvas,
                        const LigColours *colours,
                        double width,
                        double height)
{
  Curves curves;
  LigChartSeries series[2] = {0};
  double *steps[2] = {NULL};
  LigChart chart = LIG_CHART_INIT;
  g_return_if_fail (find_chart (run, n, &curves));
  chart.series = series;
  chart.x_label = "step";
  chart.count = curves.count;
  chart.title = curves.title;
  chart.y_label = curves.unit;
  for (guint i = 0; i < curves.count; i++) {
    const LigMetricRow *metric = curves.metrics[i];
    guint count = metric->steps->len;
    steps[i] = g_new (double, MAX (count, 1));
    for (guint j = 0; j < count; j++)
      steps[i][j] = (double) g_array_index (metric->steps, gint64, j);
    series[i] = (LigChartSeries){.label = curves.labels[i],
                                 .x = steps[i],
                                 .y = (const double *) (gpointer) metric->values->data,
                                 .count = count,
                                 .colour = i,
                                 .dashed = i > 0};
    if (curves.noisy && count > 200)
      chart.smoothing = 0.9;
  }
  lig_draw_chart (canvas, colours, &chart, width, height);
  for (guint i = 0; i < 2; i++)
    g_free (steps[i]);
}
