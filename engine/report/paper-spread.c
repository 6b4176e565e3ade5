/* SPDX-License-Identifier: MIT */
/* The measured times of a run with their quartiles, and the reasons to distrust them. */
#include "engine/report/paper.h"
#include "engine/train/profile-json.h"
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/profile.h>
#include <ligature/store-spreads.h>
#include <ligature/units.h>

#include <json-glib/json-glib.h>

/* The number of last steps of a training run that count, the same as for the time in lists of
 * runs. */
#define MAX_STEPS 1000

static const char *
get_title (const char *figure)
{
  static const char *const titles[][2] = {
    {"forward", N_ ("Forward")},
    {"backward", N_ ("Backward")},
    {"update", N_ ("Update")},
    {"forward-backward", N_ ("Forward and backward")},
    {"step", N_ ("Whole step")},
    {LIG_METRIC_EXPOSED, N_ ("Waiting for collectives")},
    {LIG_METRIC_IMBALANCE, N_ ("Waiting for the slowest rank")},
  };
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    if (g_str_equal (titles[i][0], figure))
      return _ (titles[i][1]);
  return figure;
}

static void
append_row (LigPaper *to, const char *figure, const LigSpread *spread)
{
  g_autofree char *median = lig_units_time (spread->median);
  g_autofree char *lower = lig_units_time (spread->lower);
  g_autofree char *upper = lig_units_time (spread->upper);
  g_autofree char *count = g_strdup_printf ("%u", spread->count);
  lig_paper_row (to, get_title (figure), median, lower, upper, count, NULL);
}

/* Returns the spread of a training run's last steps. */
static gboolean
measure_steps (const LigReportRun *run, const char *name, LigSpread *spread)
{
  const LigMetricRow *metric = lig_report_find_metric (run, name);
  guint count = metric ? MIN (metric->values->len, MAX_STEPS) : 0;
  if (count == 0)
    return FALSE;
  const double *values = (const double *) (gpointer) metric->values->data;
  lig_spread_measure (values + metric->values->len - count, count, spread);
  spread->median *= 1e-3;
  spread->lower *= 1e-3;
  spread->upper *= 1e-3;
  return spread->count > 0;
}

static void
append_waits (LigPaper *to, const LigReportRun *run)
{
  static const char *const metrics[] = {LIG_METRIC_EXPOSED, LIG_METRIC_IMBALANCE};
  LigSpread spread;
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    if (measure_steps (run, metrics[i], &spread))
      append_row (to, metrics[i], &spread);
}

/* Says which load of experts a profile had, if it had any. */
static void
say_load (LigPaper *to, const char *settings)
{
  g_autoptr (JsonNode) root = lig_json_from_text (settings, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *load = object ? lig_json_get_string (object, "expert_load", NULL) : NULL;
  g_autofree char *text = load ? lig_profile_load_describe (load) : NULL;
  g_autofree char *sentence = text ? g_strconcat (text, ".", NULL) : NULL;
  if (sentence)
    lig_paper_say (to, sentence);
}

void
lig_paper_spreads (LigPaper *to, const LigReportRun *run)
{
  LigSpread step = {0};
  LigConditions conditions;
  gboolean training = run->spreads->len == 0 && measure_steps (run, "step-ms", &step);
  if (run->spreads->len == 0 && !training)
    return;
  lig_paper_heading (to, _ ("Measured times"));
  lig_paper_head (to, _ ("Pass|>Median|>First quartile|>Third quartile|>Values"));
  if (training)
    append_row (to, "step", &step);
  append_waits (to, run);
  for (guint i = 0; i < run->spreads->len; i++) {
    const LigSpreadRow *row = run->spreads->pdata[i];
    const LigSpread spread = {(guint) row->count, row->microseconds * 1e-6, row->lower * 1e-6,
                              row->upper * 1e-6};
    append_row (to, row->figure, &spread);
    step = g_str_equal (row->figure, "step") ? spread : step;
  }
  say_load (to, run->row->settings);
  if (!lig_profile_read_conditions (run->row->settings, &conditions))
    return;
  conditions.step = step;
  lig_conditions_judge (&conditions);
  g_autofree char *text = lig_conditions_to_text (&conditions);
  g_autofree char *sentence =
    text ? g_strdup_printf (_ ("These times are unreliable: %s."), text) : NULL;
  if (sentence)
    lig_paper_say (to, sentence);
}

void
lig_report_add_spreads (JsonBuilder *to, GPtrArray *spreads)
{
  lig_json_begin_array (to, "spreads");
  for (guint i = 0; i < spreads->len; i++) {
    const LigSpreadRow *row = spreads->pdata[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "figure", row->figure);
    lig_json_add_integer (to, "count", row->count);
    lig_json_add_number (to, "lower_us", row->lower);
    lig_json_add_number (to, "median_us", row->microseconds);
    lig_json_add_number (to, "upper_us", row->upper);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}
