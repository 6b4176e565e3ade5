/* SPDX-License-Identifier: MIT */
/* The curves of a run: those that belong together in one chart, the others in one each. */
#include "engine/report/picture.h"

/* Metrics that share a chart; what is not named here has one of its own. */
static const struct {
  const char *title, *metrics[2], *labels[2];
} known[] = {
  {"Loss", {LIG_METRIC_LOSS, LIG_METRIC_EVAL_LOSS}, {"training", "held out"}},
  {"Held-out accuracy", {LIG_METRIC_EVAL_ACCURACY}, {"held out"}},
  {"Step time", {"step-ms"}, {"milliseconds"}},
  {"Learning rate", {"learning-rate"}, {"learning rate"}},
  {"Gradient norm", {"gradient-norm"}, {"gradient norm"}},
};

/* A metric that no chart of several has. */
static gboolean
is_known (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    for (guint j = 0; j < G_N_ELEMENTS (known[i].metrics); j++)
      if (g_strcmp0 (known[i].metrics[j], name) == 0)
        return TRUE;
  return FALSE;
}

/* Metrics of chart n: its title, and how many there are; 0 beyond the last. */
static guint
find_chart (const LigReportRun *run,
            guint n,
            const char **title,
            const LigReportMetric *metrics[2],
            const char *labels[2])
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    guint count = 0;
    for (guint j = 0; j < 2 && known[i].metrics[j]; j++) {
      labels[count] = known[i].labels[j];
      metrics[count] = lig_report_find_metric (run, known[i].metrics[j]);
      count += metrics[count] != NULL;
    }
    *title = known[i].title;
    if (count > 0 && n-- == 0)
      return count;
  }
  for (guint i = 0; i < run->metrics->len; i++) {
    metrics[0] = run->metrics->pdata[i];
    *title = labels[0] = metrics[0]->name;
    if (!is_known (metrics[0]->name) && n-- == 0)
      return 1;
  }
  return 0;
}

guint
lig_picture_count_charts (const LigReportRun *run)
{
  const LigReportMetric *metrics[2];
  const char *title, *labels[2];
  guint count = 0;
  while (find_chart (run, count, &title, metrics, labels) > 0)
    count++;
  return count;
}

void
lig_picture_draw_chart (const LigReportRun *run,
                        guint n,
                        LigCanvas *canvas,
                        const LigInks *inks,
                        double width,
                        double height)
{
  const LigReportMetric *metrics[2];
  const char *title = NULL, *labels[2];
  LigChartSeries series[2] = {0};
  double *steps[2] = {NULL};
  LigChart chart = LIG_CHART_INIT;
  chart.series = series;
  chart.x_label = "step";
  chart.count = find_chart (run, n, &title, metrics, labels);
  chart.title = title;
  for (guint i = 0; i < chart.count; i++) {
    guint count = metrics[i]->steps->len;
    steps[i] = g_new (double, MAX (count, 1));
    for (guint j = 0; j < count; j++)
      steps[i][j] = (double) g_array_index (metrics[i]->steps, gint64, j);
    series[i] = (LigChartSeries){.label = labels[i],
                                 .x = steps[i],
                                 .y = (const double *) (gpointer) metrics[i]->values->data,
                                 .count = count,
                                 .colour = i,
                                 .dashed = i > 0};
    if (count > 200)
      chart.smoothing = 0.9;
  }
  lig_draw_chart (canvas, inks, &chart, width, height);
  for (guint i = 0; i < 2; i++)
    g_free (steps[i]);
}
