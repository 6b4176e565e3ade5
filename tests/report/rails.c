/* SPDX-License-Identifier: MIT */
/* Rails and reasons in reports: the rails of a run are its recorded groups, independent of its
 * policy; near misses come first, and equal reasons of repetitions share one line. */
#include "engine/report/picture.h"
#include "engine/report/verdicts.h"
#include "engine/store/writing.h"
#include "tests/store/case.h"
#include <ligature/compile.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>

#define RESIDUAL \
  "make-extra-output(to=r) ! layer-norm ! linear(24) ! gelu ! linear(8) ! add-extra-input(from=r)"
#define BLOCKS "block(12){" RESIDUAL "}"

static LigSequence *
new_sequence (const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (16), G_GINT64_CONSTANT (8));
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  return sequence;
}

static LigPlan *
new_plan (const char *expression, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression);
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigPlan *plan = lig_plan_compile (sequence, device, options, &error);
  g_assert_no_error (error);
  return plan;
}

/* --- Runs ---------------------------------------------------------------------------------- */

/* Stores a run of that policy with its recorded groups. */
static char *
begin_run (LigStore *store, const char *expression, const char *kind, const char *policy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression);
  g_autofree char *json = lig_sequence_to_json (sequence);
  LigRunRecord record = example;
  record.sequence = json;
  record.kind = kind;
  record.policy = policy;
  record.device = "cuda:7";
  record.versions = "{\"device\": \"NVIDIA H200\"}";
  char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  return run;
}

static void
finish_run (LigStore *store, const char *run)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_assert_no_error (error);
}

static void
record_plan (LigStore *store, const char *run, LigPlan *plan)
{
  guint count;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++)
      lig_store_add_fusion (store, run, lig_pass_name (pass), (int) i, groups[i].first,
                            groups[i].count, groups[i].fusion ? groups[i].fusion->name : NULL);
  }
}

static void
free_run (LigReportRun *run)
{
  lig_run_row_free (run->row);
  g_ptr_array_unref (run->fusions);
  g_ptr_array_unref (run->timings);
}

static void
read_run (LigReportRun *run, LigStore *store, const char *uuid)
{
  g_autoptr (GError) error = NULL;
  *run = (LigReportRun){.row = lig_store_find_run (store, uuid, &error)};
  g_assert_no_error (error);
  run->fusions = lig_store_get_fusions (store, uuid, &error);
  run->timings = lig_store_get_timings (store, uuid, &error);
  g_assert_no_error (error);
}

/* Checks that the plan has exactly the recorded groups. */
static void
assert_recorded (LigPlan *plan, const LigReportRun *run)
{
  guint count, all = 0;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    lig_plan_get_groups (plan, pass, &count);
    all += count;
  }
  g_assert_cmpuint (all, ==, run->fusions->len);
  for (guint i = 0; i < run->fusions->len; i++) {
    const LigFusionRow *row = run->fusions->pdata[i];
    gboolean forward = g_str_equal (row->pass, "forward");
    const LigPlanGroup *groups =
      lig_plan_get_groups (plan, forward ? LIG_PASS_FORWARD : LIG_PASS_BACKWARD, &count);
    g_assert_cmpint (row->group, <, (int) count);
    const LigPlanGroup *group = &groups[row->group];
    g_assert_cmpstr (group->fusion ? group->fusion->name : NULL, ==, row->fusion);
    g_assert_cmpint (group->first, ==, row->first_op);
    g_assert_cmpint (group->count, ==, row->count);
  }
}

/* A run with policy `measured` may have shorter groups than policy `all`, or none. A run from the
 * window may compute the input gradient; a run without backward groups only evaluated. */
static void
test_recorded (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *expression, *choices;
    gboolean input_gradient, evaluation;
  } runs[] = {
    {RESIDUAL, "forward-linear-bias-activation@2+2", FALSE, FALSE},
    {RESIDUAL, "forward-linear-bias-activation@5+2 backward-linear-bias@5+2", TRUE, FALSE},
    {RESIDUAL, "", FALSE, FALSE},
    {"gelu ! linear(8)", "", TRUE, FALSE},
    {"gelu ! linear(8)", "backward-linear-bias@1+2", TRUE, FALSE},
    {RESIDUAL, "forward-linear-bias-add@5+3", FALSE, TRUE},
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = LIG_POLICY_MEASURED;
    options.choices = runs[i].choices;
    options.input_gradient = runs[i].input_gradient;
    options.training = !runs[i].evaluation;
    g_autoptr (LigPlan) plan = new_plan (runs[i].expression, &options);
    g_autofree char *uuid = begin_run (store, runs[i].expression, "profile", "measured");
    g_autofree char *note = NULL;
    LigReportRun run;
    record_plan (store, uuid, plan);
    finish_run (store, uuid);
    read_run (&run, store, uuid);
    g_autoptr (LigPlan) rebuilt = lig_report_rebuild (&run, &note);
    g_assert_nonnull (rebuilt);
    g_assert_cmpint (lig_plan_get_policy (rebuilt), ==, LIG_POLICY_MEASURED);
    g_assert_true (g_str_has_prefix (note, "Recompiled with the groups that the run recorded"));
    assert_recorded (rebuilt, &run);
    free_run (&run);
  }
}

/* Recorded groups that cannot be rebuilt are not replaced. If none were recorded, the note says
 * so. */
static void
test_not_recorded (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_assert_no_error (error);
  g_autofree char *odd = begin_run (store, RESIDUAL, "train", "measured");
  lig_store_add_fusion (store, odd, "forward", 0, 0, 3, "forward-of-another-time");
  finish_run (store, odd);
  g_autofree char *empty = begin_run (store, RESIDUAL, "train", "all");
  finish_run (store, empty);
  const char *const uuids[] = {odd, empty};
  for (guint i = 0; i < 2; i++) {
    LigReportRun run;
    g_autofree char *note = NULL;
    read_run (&run, store, uuids[i]);
    g_autoptr (LigPlan) plan = lig_report_rebuild (&run, &note);
    g_assert_true ((plan == NULL) == (i == 0));
    g_assert_nonnull (strstr (note, i == 0 ? "forward-of-another-time@0+3" : "chosen now"));
    g_autoptr (GBytes) html = lig_report_run (store, uuids[i], "html", &error);
    g_assert_no_error (error);
    free_run (&run);
  }
}

/* --- Reasons ------------------------------------------------------------------------------- */

static guint
count_lines (const char *text, const char *part)
{
  guint count = 0;
  for (; (text = strstr (text, part)); text++)
    count++;
  return count;
}

/* Each reason of twelve blocks is printed once, if reasons are requested. */
static void
test_folded (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigRailsOptions form = LIG_RAILS_OPTIONS_INIT;
  guint count, times = 0;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigPlan) plan = new_plan (BLOCKS, &options);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  g_autofree char *few = lig_plan_to_rails (plan, NULL);
  form.all = TRUE;
  form.width = LIG_RAILS_WIDEST;
  g_autofree char *all = lig_plan_to_rails (plan, &form);
  const char *why = strstr (all, "Verdicts:");
  g_assert_cmpuint (count, >, 180);
  g_assert_cmpint (verdicts[0].count, >, 0);
  g_assert_null (strstr (few, "Verdicts:"));
  g_assert_nonnull (strstr (why, "  0.0.4   forward-linear-bias-activation: Linear at 0.0.4 is "
                                 "already in “Linear + bias + residual” at 0.0.4 to 0.0.5 (12 "
                                 "times)\n"));
  g_assert_cmpuint (count_lines (why, "\n"), <, count / 3);
  g_assert_nonnull (strstr (why, "forward-linear-scale-add: needs a scale after Linear at 0.0.2; "
                                 "Bias of Linear at 0.0.2 follows (12 times)"));
  /* Near misses come before rejections because of another group, and these before rejections by the
   * pattern.
   */
  g_assert_true (strstr (why, "already (12 times)") < strstr (why, ": needs "));
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  g_assert_cmpuint (lines->len, <, count / 5);
  for (guint i = 0; i < lines->len; i++)
    times += g_array_index (lines, LigVerdictLine, i).times;
  g_assert_cmpuint (times, ==, count);
}

static void
test_near_misses_first (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan =
    new_plan ("linear(8) ! gelu ! linear(8) ! make-extra-output(caller=true) ! gelu", &options);
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  const LigVerdict *first = g_array_index (lines, LigVerdictLine, 0).verdict;
  g_assert_cmpint (first->reason, ==, LIG_REASON_IN_USE);
  gboolean patterns = FALSE;
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdict *verdict = g_array_index (lines, LigVerdictLine, i).verdict;
    g_assert_true (!patterns || verdict->reason == LIG_REASON_PATTERN);
    patterns |= verdict->reason == LIG_REASON_PATTERN;
  }
  g_assert_true (patterns);
}

/* Reports of plans and of runs fold verdicts in the same way; JSON documents contain all of
 * them. */
static void
test_reports_fold (Fixture *f, gconstpointer data)
{
  static const char *const formats[] = {"md", "html"};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  guint count;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = lig_store_open (f->path, &error);
  g_autoptr (LigPlan) plan = new_plan (BLOCKS, &options);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  g_autofree char *uuid = begin_run (store, BLOCKS, "train", "all");
  record_plan (store, uuid, plan);
  for (guint i = 0; i < count; i++)
    lig_store_add_verdict (store, uuid, verdicts[i].fusion->name, lig_pass_name (verdicts[i].pass),
                           verdicts[i].first, verdicts[i].count, verdicts[i].taken,
                           lig_reason_name (verdicts[i].reason), verdicts[i].observed,
                           verdicts[i].required, verdicts[i].text);
  finish_run (store, uuid);
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GBytes) report = i < 2 ? lig_report_plan (plan, NULL, formats[i], &error)
                                      : lig_report_run (store, uuid, formats[i - 2], &error);
    g_assert_no_error (error);
    g_autofree char *text = g_strndup (g_bytes_get_data (report, NULL), g_bytes_get_size (report));
    /* The embedded document is cut off here, because it is not folded. */
    char *document = strstr (text, "<script");
    if (document)
      *document = '\0';
    g_assert_nonnull (strstr (text, " (12 times)"));
    g_assert_cmpuint (count_lines (text, " is already in "), <, 24);
    g_assert_cmpuint (count_lines (text, " is in “"), <, 24);
  }
  g_autoptr (JsonNode) json = lig_plan_to_json (plan);
  JsonArray *list = json_object_get_array_member (json_node_get_object (json), "verdicts");
  g_assert_cmpuint (json_array_get_length (list), ==, count);
}

/* For a device without peak rates no report predicts anything. */
static void
test_unpriced (void)
{
  static const char *const formats[] = {"md", "svg", "html", "dot"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (BLOCKS);
  g_autoptr (LigDevice) device = lig_device_open ("null", &error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  g_autofree char *rails = lig_plan_to_rails (plan, NULL);
  g_assert_null (strstr (rails, "predicted"));
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GBytes) report = lig_report_plan (plan, NULL, formats[i], &error);
    g_assert_no_error (error);
    g_autofree char *text = g_strndup (g_bytes_get_data (report, NULL), g_bytes_get_size (report));
    char *document = strstr (text, "<script");
    if (document)
      *document = '\0';
    g_assert_null (strstr (text, "≈"));
    g_assert_null (strstr (text, "predicted 0"));
    g_assert_null (strstr (text, "repetitions: 0"));
  }
}

#define ADD(path, function) \
  g_test_add ("/report-rails/" path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("recorded", test_recorded);
  ADD ("not-recorded", test_not_recorded);
  ADD ("reports-fold", test_reports_fold);
  g_test_add_func ("/report-rails/folded", test_folded);
  g_test_add_func ("/report-rails/near-misses-first", test_near_misses_first);
  g_test_add_func ("/report-rails/unpriced", test_unpriced);
  return g_test_run ();
}
