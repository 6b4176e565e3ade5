/* SPDX-License-Identifier: MIT */
/* Reports of runs as text. */
#include "engine/base/json-private.h"
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include "engine/report/verdicts.h"
#include <ligature/run.h>
#include <ligature/shell.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The number of rows of the loss table besides those of evaluations, and of columns of the
 * sparkline. */
#define ROWS 20
#define COLUMNS 60

/* Formats microseconds since 1970 as local time, ISO 8601; NULL for 0. */
static char *
format_moment (gint64 when)
{
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  return when && moment ? g_date_time_format_iso8601 (moment) : NULL;
}

static char *
format_value (JsonNode *value)
{
  if (JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (value));
  GString *text = g_string_new (NULL);
  lig_json_append (text, value);
  if (JSON_NODE_HOLDS_VALUE (value) && g_str_has_suffix (text->str, ".0"))
    g_string_truncate (text, text->len - 2);
  return g_string_free (text, FALSE);
}

/* Returns `ligature 0.1.0, device NVIDIA H200` for a JSON object of versions; (transfer full). */
static char *
describe_versions (const char *text)
{
  g_autoptr (JsonNode) root = lig_json_read (text, strlen (text), NULL, NULL);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return g_strdup (text);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  GString *line = g_string_new (NULL);
  json_object_iter_init_ordered (&iter, json_node_get_object (root));
  while (json_object_iter_next_ordered (&iter, &name, &value)) {
    g_autofree char *given = format_value (value);
    if (*given)
      g_string_append_printf (line, "%s%s %s", line->len > 0 ? ", " : "", name, given);
  }
  return g_string_free (line, FALSE);
}

/* Returns the hashes and the threads that a repetition needs, `content 00ff, threads 8`; NULL if an
 * older version recorded the run; (transfer full). */
static char *
describe_inputs (const char *text)
{
  static const char *const shown[] = {"content", "weights",      "ranks", "parallel",
                                      "threads", "instructions", "rounds"};
  g_autoptr (JsonNode) root = text ? lig_json_read (text, strlen (text), NULL, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return NULL;
  GString *line = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++) {
    JsonNode *value = json_object_get_member (json_node_get_object (root), shown[i]);
    g_autofree char *given = value ? format_value (value) : NULL;
    if (given)
      g_string_append_printf (line, "%s%s %s", line->len > 0 ? ", " : "", shown[i], given);
  }
  return g_string_free (line, FALSE);
}

static void
append_facts (LigPaper *to, const LigReportRun *run)
{
  const LigRunRow *row = run->row;
  g_autofree char *inputs = describe_inputs (run->inputs);
  g_autofree char *versions = describe_versions (row->versions);
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, row->seed);
  g_autofree char *started = format_moment (row->started);
  g_autofree char *ended = format_moment (row->ended);
  g_autofree char *duration =
    row->ended ? lig_units_time (((double) row->ended - (double) row->started) * 1e-6) : NULL;
  g_autofree char *tags = row->tags ? g_strjoinv (", ", row->tags) : NULL;
  const char *const facts[][2] = {
    {_ ("Run"), row->uuid},
    {_ ("Name"), row->name},
    {_ ("Status"), row->status},
    {_ ("Message"), row->message},
    {_ ("Kind"), row->kind},
    {_ ("Device"), row->device},
    {_ ("Types"), row->dtype},
    {_ ("Recipe"), row->recipe},
    {_ ("Policy"), row->policy},
    {_ ("Seed"), seed},
    {_ ("Started"), started},
    {_ ("Ended"), ended},
    {_ ("Duration"), duration},
    {_ ("Host"), row->host},
    {_ ("Revision"), row->revision},
    {_ ("Versions"), versions},
    {_ ("Inputs"), inputs},
    {_ ("Tags"), tags},
    {_ ("Starred"), row->starred ? _ ("yes") : ""},
    {_ ("Notes"), row->notes},
  };
  lig_paper_head (to, "|");
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    lig_paper_fact (to, facts[i][0], facts[i][1]);
}

static void
append_result (LigPaper *to, const LigRunRow *row)
{
  g_autofree char *step = g_strdup_printf ("%" G_GINT64_FORMAT, row->last_step);
  g_autofree char *accuracy = g_strdup_printf ("%.4g %%", 100 * row->eval_accuracy);
  g_autofree char *first = lig_report_number (row->first_loss);
  g_autofree char *last = lig_report_number (row->last_loss);
  g_autofree char *validation = lig_report_number (row->eval_loss);
  lig_paper_heading (to, _ ("Result"));
  if (row->last_step < 0) {
    lig_paper_say (to, _ ("The run reported no metrics."));
    return;
  }
  lig_paper_head (to, "|>");
  lig_paper_fact (to, _ ("Last step"), step);
  lig_paper_fact (to, _ ("First loss"), first);
  lig_paper_fact (to, _ ("Last loss"), last);
  lig_paper_fact (to, _ ("Validation loss"), validation);
  lig_paper_fact (to, _ ("Validation accuracy"), isnan (row->eval_accuracy) ? "-" : accuracy);
}

/* --- Settings ------------------------------------------------------------------------------- */

static const LigSetting *
find_setting (const char *name)
{
  const LigSetting *setting = NULL;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (g_str_equal (setting->name, name))
      break;
  return setting;
}

/* Returns whether the value is the setting's default. Texts have no default: they are recorded only
 * if given. */
static gboolean
is_default (const LigSetting *setting, JsonNode *value)
{
  return setting && setting->kind != LIG_SETTING_TEXT && JSON_NODE_HOLDS_VALUE (value) &&
         json_node_get_double (value) == setting->initial;
}

/* Returns the setting's help, with the words for the effect of 0: `Maximum global gradient norm; 0:
 * never clipped`. */
static char *
make_meaning (const LigSetting *setting)
{
  if (!setting || !setting->help)
    return g_strdup ("");
  if (!setting->unset || !g_str_has_prefix (setting->unset, "0, "))
    return g_strdup (setting->help);
  return g_strdup_printf ("%s; 0: %s", setting->help, setting->unset + strlen ("0, "));
}

static char *
make_default (const LigSetting *setting)
{
  if (setting->unset && g_str_has_prefix (setting->unset, "0, "))
    return g_strdup ("0");
  return lig_setting_default (setting);
}

static void
append_settings (LigPaper *to, const char *text)
{
  g_autoptr (JsonNode) root = lig_json_read (text, strlen (text), NULL, NULL);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root) ||
      json_object_get_size (json_node_get_object (root)) == 0)
    return;
  lig_paper_heading (to, _ ("Settings"));
  lig_paper_head (to, _ ("Setting|Value|Default|Meaning"));
  for (int usual = 0; usual < 2; usual++) {
    JsonObjectIter iter;
    const char *name;
    JsonNode *value;
    json_object_iter_init_ordered (&iter, json_node_get_object (root));
    while (json_object_iter_next_ordered (&iter, &name, &value)) {
      const LigSetting *setting = find_setting (name);
      /* For a profile, a sentence follows the measured times. */
      if (g_str_equal (name, "conditions"))
        continue;
      if (is_default (setting, value) != usual)
        continue;
      g_autofree char *given = format_value (value);
      g_autofree char *initial = setting ? make_default (setting) : NULL;
      g_autofree char *meaning = make_meaning (setting);
      const char *unit = setting && g_strcmp0 (setting->argument, "MiB") == 0 ? " MiB" : NULL;
      g_autofree char *shown = g_strconcat (given, unit, NULL);
      g_autofree char *normal = initial ? g_strconcat (initial, unit, NULL) : g_strdup ("");
      lig_paper_row (to, name, shown, normal, meaning, NULL);
    }
  }
}

/* --- The loss ------------------------------------------------------------------------------- */

/* Sets each column to the mean of its finite values; NaN if there are none. */
static void
fill_columns (const LigMetricRow *loss, double *columns, guint count)
{
  for (guint i = 0; i < count; i++) {
    guint n = 0, end = (guint) ((guint64) (i + 1) * loss->values->len / count);
    double sum = 0;
    for (guint j = (guint) ((guint64) i * loss->values->len / count); j < end; j++) {
      double value = g_array_index (loss->values, double, j);
      sum += isfinite (value) ? value : 0;
      n += isfinite (value) != 0;
    }
    columns[i] = n > 0 ? sum / n : NAN;
  }
}

static void
append_sparkline (LigPaper *to, const LigMetricRow *loss)
{
  static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double columns[COLUMNS], min = INFINITY, max = -INFINITY;
  guint count = MIN (loss->values->len, COLUMNS);
  g_autoptr (GString) line = g_string_new (NULL);
  fill_columns (loss, columns, count);
  for (guint i = 0; i < count; i++) {
    min = isnan (columns[i]) ? min : MIN (min, columns[i]);
    max = isnan (columns[i]) ? max : MAX (max, columns[i]);
  }
  if (min > max)
    return;
  for (guint i = 0; i < count; i++) {
    double share = max > min ? (columns[i] - min) / (max - min) : 0;
    g_string_append (line, isnan (columns[i]) ? " " : levels[(int) (share * 7 + 0.5)]);
  }
  g_string_append_printf (line, "  (█ %.4g, ▁ %.4g)", max, min);
  lig_paper_block (to, "", line->str);
}

static double
get_value (const LigMetricRow *metric, gint64 step)
{
  guint at;
  for (guint low = 0, high = metric ? metric->steps->len : 0; low < high;) {
    at = low + (high - low) / 2;
    gint64 here = g_array_index (metric->steps, gint64, at);
    if (here == step)
      return g_array_index (metric->values, double, at);
    low = here < step ? at + 1 : low;
    high = here < step ? high : at;
  }
  return NAN;
}

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  gint64 left = *(const gint64 *) a, right = *(const gint64 *) b;
  return (left > right) - (left < right);
}

/* Returns evenly spaced steps of the loss and the steps of all evaluations. */
static GArray *
choose_steps (const LigMetricRow *loss, const LigMetricRow *validation)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint n = loss ? loss->steps->len : 0, rows = MIN (n, ROWS);
  for (guint i = 0; i < rows; i++) {
    guint at = rows > 1 ? (guint) ((guint64) i * (n - 1) / (rows - 1)) : 0;
    g_array_append_val (steps, g_array_index (loss->steps, gint64, at));
  }
  if (validation)
    g_array_append_vals (steps, validation->steps->data, validation->steps->len);
  g_array_sort (steps, compare_steps);
  return steps;
}

static void
append_loss (LigPaper *to, const LigReportRun *run)
{
  const LigMetricRow *loss = lig_report_find_metric (run, LIG_METRIC_LOSS);
  const LigMetricRow *validation = lig_report_find_metric (run, LIG_METRIC_EVAL_LOSS);
  const LigMetricRow *accuracy = lig_report_find_metric (run, LIG_METRIC_EVAL_ACCURACY);
  g_autoptr (GArray) steps = choose_steps (loss, validation);
  if (steps->len == 0)
    return;
  lig_paper_heading (to, _ ("Loss"));
  if (!lig_paper_figure (to, LIG_FIGURE_METRICS) && loss)
    append_sparkline (to, loss);
  lig_paper_head (to, _ (">Step|>Loss|>Validation loss|>Validation accuracy"));
  for (guint i = 0; i < steps->len; i++) {
    gint64 step = g_array_index (steps, gint64, i);
    if (i > 0 && step == g_array_index (steps, gint64, i - 1))
      continue;
    g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, step);
    g_autofree char *value = lig_report_number (get_value (loss, step));
    g_autofree char *validation_value = lig_report_number (get_value (validation, step));
    g_autofree char *share = lig_report_number (get_value (accuracy, step));
    lig_paper_row (to, number, value, validation_value, share, NULL);
  }
}

static void
append_metrics (LigPaper *to, GPtrArray *metrics)
{
  if (metrics->len == 0)
    return;
  lig_paper_heading (to, _ ("Metrics"));
  lig_paper_head (to, _ ("Metric|>Values|>First|>Last"));
  for (guint i = 0; i < metrics->len; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    guint n = metric->values->len;
    g_autofree char *count = g_strdup_printf ("%u", n);
    g_autofree char *first =
      lig_report_number (n ? g_array_index (metric->values, double, 0) : NAN);
    g_autofree char *last =
      lig_report_number (n ? g_array_index (metric->values, double, n - 1) : NAN);
    lig_paper_row (to, metric->name, count, first, last, NULL);
  }
}

/* --- Groups, times, verdicts ---------------------------------------------------------------- */

/* Appends the rails, times and memory of the run's plan, if the report has pictures. */
static void
append_score (LigPaper *to)
{
  if (!to->picture || !to->picture->timed.plan)
    return;
  lig_paper_heading (to, _ ("Rails"));
  lig_paper_figure (to, LIG_FIGURE_SCORE);
  lig_paper_plan_facts (to, to->picture->timed.plan);
  if (!to->picture->recorded &&
      lig_device_get_facts (lig_plan_get_device (to->picture->timed.plan))->copy <= 0)
    return;
  lig_paper_heading (to, _ ("Time of the groups"));
  lig_paper_figure (to, LIG_FIGURE_TIMES);
  lig_paper_heading (to, _ ("Memory over a step"));
  lig_paper_figure (to, LIG_FIGURE_MEMORY);
}

static void
append_groups (LigPaper *to, LigPlan *plan, GPtrArray *fusions)
{
  lig_paper_heading (to, _ ("Groups"));
  if (fusions->len == 0) {
    lig_paper_say (to, _ ("None was recorded."));
    return;
  }
  lig_paper_head (to, _ ("Pass|>Group|Fusion|Paths"));
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *fusion = fusions->pdata[i];
    g_autofree char *group = g_strdup_printf ("%d", fusion->group);
    g_autofree char *paths = lig_report_paths (plan, fusion->first_op, fusion->count);
    lig_paper_row (to, fusion->pass, group, fusion->fusion ? fusion->fusion : "-", paths, NULL);
  }
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  double left = *(const double *) a, right = *(const double *) b;
  return (left > right) - (left < right);
}

/* Appends one line for the adjacent rows of one group and returns the number of rows. */
static guint
append_time (LigPaper *to, GPtrArray *timings, guint first)
{
  const LigTimingRow *row = timings->pdata[first];
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = first; i < timings->len; i++) {
    const LigTimingRow *other = timings->pdata[i];
    if (other->group != row->group || strcmp (other->pass, row->pass) != 0)
      break;
    g_array_append_val (times, other->microseconds);
  }
  g_array_sort (times, compare_times);
  double median = g_array_index (times, double, times->len / 2);
  g_autofree char *group = g_strdup_printf ("%d", row->group);
  g_autofree char *count = g_strdup_printf ("%u", times->len);
  g_autofree char *time = lig_units_time (median * 1e-6);
  g_autofree char *bytes = lig_units_bytes (row->bytes);
  g_autofree char *flops = lig_units_count (row->flops);
  g_autofree char *rate = lig_units_bytes (median > 0 ? row->bytes / median * 1e6 : 0);
  g_autofree char *rate_text = g_strconcat (rate, "/s", NULL);
  lig_paper_row (to, row->pass, group, count, time, bytes, flops, rate_text, NULL);
  return times->len;
}

static void
append_times (LigPaper *to, GPtrArray *timings)
{
  if (timings->len == 0)
    return;
  lig_paper_heading (to, _ ("Times"));
  lig_paper_head (to, _ ("Pass|>Group|>Samples|>Median|>Bytes|>Flops|>Moved"));
  for (guint i = 0; i < timings->len;)
    i += append_time (to, timings, i);
}

/* Returns the run's fused group that covers one of the verdict's ops in its pass. */
static const LigFusionRow *
find_claimant (GPtrArray *fusions, const LigVerdictRow *verdict)
{
  for (guint i = 0; i < fusions->len; i++) {
    const LigFusionRow *group = fusions->pdata[i];
    gboolean pass =
      g_str_equal (verdict->pass, "joint") || g_str_equal (verdict->pass, group->pass);
    if (pass && group->fusion && group->first_op < verdict->first_op + verdict->count &&
        verdict->first_op < group->first_op + group->count)
      return group;
  }
  return NULL;
}

/* The run to which verdicts belong. */
typedef struct {
  LigPlan *plan; /* (nullable) */
  GPtrArray *fusions;
} Recorded;

/* Appends the place in any repetition of a block; without a plan the index. */
static void
append_place (GString *key, LigPlan *plan, int first)
{
  guint count = 0;
  const LigPlanOp *ops = plan ? lig_plan_get_ops (plan, &count) : NULL;
  if (first >= 0 && (guint) first < count)
    lig_report_append_place (key, ops[first].path);
  else
    g_string_append_printf (key, "%d", first);
}

/* Returns equal keys for the same verdict in each repetition of a block, where the claiming group
 * has the same distance from the verdict's first op. */
static char *
make_key (gconstpointer data, gpointer recorded)
{
  const LigVerdictRow *row = data;
  const Recorded *of = recorded;
  const char *reason = row->reason ? row->reason : "";
  const LigFusionRow *group =
    g_str_equal (reason, "claimed") ? find_claimant (of->fusions, row) : NULL;
  GString *key = g_string_new (NULL);
  append_place (key, of->plan, row->first_op);
  g_string_append_printf (key, " %s %s ", row->fusion, row->pass);
  if (group)
    g_string_append_printf (key, "%d %s %d %d", row->count, group->fusion,
                            (int) (group->first_op - row->first_op), (int) group->count);
  else
    g_string_append (key, row->text ? row->text : "");
  return g_string_free (key, FALSE);
}

/* Returns the rank in the order of lig_verdict_compare(). */
static int
get_rank (const LigVerdictRow *row)
{
  if (row->taken)
    return 2;
  if (g_strcmp0 (row->reason, "pattern") == 0)
    return 3;
  return g_strcmp0 (row->reason, "claimed") == 0 ? 1 : 0;
}

static GArray *
fold (GPtrArray *verdicts, const Recorded *recorded)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  for (int rank = 0; rank < 4; rank++)
    for (guint i = 0; i < verdicts->len; i++)
      if (get_rank (verdicts->pdata[i]) == rank)
        g_ptr_array_add (list, verdicts->pdata[i]);
  return lig_report_fold_verdicts (list, make_key, (gpointer) recorded);
}

static void
append_verdicts (LigPaper *to, LigPlan *plan, GPtrArray *verdicts, GPtrArray *fusions)
{
  lig_paper_heading (to, _ ("Verdicts"));
  if (verdicts->len == 0) {
    lig_paper_say (to, _ ("None was recorded."));
    return;
  }
  const Recorded recorded = {plan, fusions};
  g_autoptr (GArray) lines = fold (verdicts, &recorded);
  lig_paper_head (to, _ ("Paths|Fusion|Pass|Reason|Verdict"));
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    const LigVerdictRow *verdict = line->verdict;
    g_autofree char *paths = lig_report_paths (plan, verdict->first_op, verdict->count);
    g_autofree char *sentence =
      lig_report_verdict_text (verdict->text ? verdict->text : "", line->times);
    lig_paper_row (to, paths, verdict->fusion, verdict->pass,
                   verdict->taken    ? "taken"
                   : verdict->reason ? lig_report_reason (verdict->reason)
                                     : "",
                   sentence, NULL);
  }
}

/* --- Samples ------------------------------------------------------------------------------- */

/* Lists the texts of the last steps that have some; earlier ones are in the store. */
static void
append_samples (LigPaper *to, GPtrArray *samples)
{
  enum { SHOWN = 12 };
  if (samples->len == 0)
    return;
  lig_paper_heading (to, _ ("Samples"));
  lig_paper_head (to, _ (">Step|Prompt|Text"));
  for (guint i = samples->len > SHOWN ? samples->len - SHOWN : 0; i < samples->len; i++) {
    const LigSampleRow *sample = samples->pdata[i];
    g_autofree char *step = g_strdup_printf ("%" G_GINT64_FORMAT, sample->step);
    lig_paper_row (to, step, sample->prompt, sample->text, NULL);
  }
}

/* --- Files and commands --------------------------------------------------------------------- */

static void
append_artifacts (LigPaper *to, GPtrArray *artifacts)
{
  if (artifacts->len == 0)
    return;
  lig_paper_heading (to, _ ("Files"));
  lig_paper_head (to, _ ("Kind|File"));
  for (guint i = 0; i < artifacts->len; i++) {
    const LigArtifactRow *artifact = artifacts->pdata[i];
    lig_paper_row (to, artifact->kind, artifact->path, NULL);
  }
}

static void
append_sequence (LigPaper *to, const char *json)
{
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (json, -1, NULL, NULL);
  g_autofree char *expression = sequence ? lig_sequence_to_expression (sequence) : NULL;
  if (!*json)
    return;
  lig_paper_heading (to, _ ("Sequence"));
  if (expression)
    lig_paper_block (to, "", expression);
  lig_paper_block (to, "json", json);
}

static void
append_again (LigPaper *to, const LigReportRun *run)
{
  g_autofree char *command = lig_report_run_command (run);
  if (!command)
    return;
  lig_paper_heading (to, _ ("How to reproduce it"));
  lig_paper_block (to, "sh", command);
  if (to->html) {
    lig_paper_say (
      to, _ ("This page contains everything needed to repeat the run and to compare each step:"));
    lig_paper_block (to, "sh", "lig runs repeat REPORT.html");
  }
}

static void
append_command (LigPaper *to, const LigReportRun *run, const char *more)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_printf (text, "lig train --resume %s%s", run->row->uuid, more);
  lig_shell_append_option (text, "store", run->store);
  lig_paper_block (to, "sh", text->str);
}

static void
append_outlook (LigPaper *to, const LigReportRun *run)
{
  gboolean saved = FALSE, done = g_str_equal (run->row->status, "done");
  if (!g_str_equal (run->row->kind, "train"))
    return;
  for (guint i = 0; i < run->artifacts->len; i++)
    saved |= g_str_equal (((const LigArtifactRow *) run->artifacts->pdata[i])->kind, "checkpoint");
  lig_paper_heading (to, _ ("How to continue"));
  if (g_str_equal (run->row->status, "running"))
    lig_paper_say (to, _ ("The run is in progress; after it stops:"));
  else if (!saved)
    lig_paper_say (to, _ ("The run has no checkpoint; with one, the command is:"));
  else if (done)
    lig_paper_say (to, _ ("All steps are done; to continue, set N to a larger number of steps."));
  append_command (to, run, saved && done ? " --steps N" : "");
}

void
lig_paper_run (LigPaper *to, const LigReportRun *run)
{
  const LigRunRow *row = run->row;
  g_autofree char *note = NULL;
  g_autoptr (LigPlan) rebuilt = to->picture ? NULL : lig_report_rebuild (run, &note);
  LigPlan *plan = to->picture ? to->picture->timed.plan : rebuilt;
  g_autofree char *title = lig_report_shorten (*row->name ? row->name : row->uuid);
  lig_paper_title (to, _ ("Run"), title);
  append_facts (to, run);
  append_result (to, row);
  append_settings (to, row->settings);
  append_loss (to, run);
  append_metrics (to, run->metrics);
  lig_paper_spreads (to, run);
  lig_paper_errors (to, run);
  append_score (to);
  append_times (to, run->timings);
  append_groups (to, plan, run->fusions);
  append_verdicts (to, plan, run->verdicts, run->fusions);
  append_samples (to, run->samples);
  lig_paper_loads (to, run);
  lig_paper_histograms (to, run);
  append_artifacts (to, run->artifacts);
  append_sequence (to, row->sequence);
  append_again (to, run);
  append_outlook (to, run);
}
