/* SPDX-License-Identifier: MIT */
/* Sweeps: the points of their axes, runs one after another, and continuing from the store. */
#include "tests/train/case.h"
#include <ligature/device.h>
#include <ligature/store-sweeps.h>
#include <ligature/sweep.h>

#include <json-glib/json-glib.h>

#define MODEL "linear(8, init-std=0.3) ! gelu ! linear(2, init-std=0.3) ! mean-squared-error"

/* Returns a sweep that has no axes yet; `assignments` are settings of all runs. */
static LigSweep *
new_sweep (const char *assignments)
{
  g_auto (LigRunSettings) settings;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  lig_run_settings_init (&settings);
  set (&settings, assignments);
  settings.data = g_strdup ("synthetic");
  g_autoptr (LigSequence) sequence = lig_sequence_open (MODEL, NULL, NULL);
  g_assert_true (lig_shape_parse ("8x4", &shape, &dtype, NULL));
  lig_sequence_set_input (sequence, &shape, dtype);
  return lig_sweep_new (sequence, "cpu", &settings, NULL);
}

static void
add (LigSweep *sweep, const char *over, gboolean zip)
{
  g_autoptr (GError) error = NULL;
  lig_sweep_add (sweep, over, zip, &error);
  g_assert_no_error (error);
}

static void
begin (LigSweep *sweep, Fixture *f)
{
  g_autoptr (GError) error = NULL;
  lig_sweep_begin (sweep, f->store, &error);
  g_assert_no_error (error);
}

static void
assert_point (LigSweep *sweep, guint number, const char *expected)
{
  g_autofree char *text = lig_sweep_describe_point (sweep, number);
  g_assert_cmpstr (text, ==, expected);
}

/* Trains the next point; returns its number, -1 if none is missing. */
static int
train_next (LigSweep *sweep, Fixture *f)
{
  g_autoptr (GError) error = NULL;
  int point = lig_sweep_next (sweep);
  if (point < 0)
    return -1;
  g_autoptr (LigRun) run = lig_sweep_prepare (sweep, (guint) point, f->device, &error);
  g_assert_no_error (error);
  lig_run_start (run);
  lig_run_wait (run, NULL);
  g_assert_true (lig_sweep_refresh (sweep, &error));
  return point;
}

static void
test_grid (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  guint count;
  add (sweep, "lr=0.1,0.01", FALSE);
  add (sweep, "seed=1..3", FALSE);
  begin (sweep, f);
  lig_sweep_get_points (sweep, &count);
  g_assert_cmpuint (count, ==, 6);
  assert_point (sweep, 0, "lr 0.1, seed 1");
  assert_point (sweep, 1, "lr 0.1, seed 2");
  assert_point (sweep, 5, "lr 0.01, seed 3");
}

static void
test_zip_and_list (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSweep) zipped = new_sweep ("steps=3"), listed = new_sweep ("steps=3");
  guint count;
  add (zipped, "lr=0.1,0.01", FALSE);
  add (zipped, "0.out-features=4,6", TRUE);
  add (zipped, "seed=1,2", FALSE);
  begin (zipped, f);
  lig_sweep_get_points (zipped, &count);
  g_assert_cmpuint (count, ==, 4);
  assert_point (zipped, 3, "lr 0.01, 0.out-features 6, seed 2");
  g_assert_true (
    lig_sweep_add_list (listed, "lr, data\n0.1, \"csv:a,b\"\n\n0.2,synthetic\n", &error));
  begin (listed, f);
  lig_sweep_get_points (listed, &count);
  g_assert_cmpuint (count, ==, 2);
  g_autofree char *text = lig_sweep_describe_point (listed, 0);
  g_assert_nonnull (strstr (text, "a,b"));
}

static void
reject (const char *over, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  add (sweep, "lr=0.1,0.01", FALSE);
  g_assert_false (lig_sweep_add (sweep, over, TRUE, &error));
  assert_message (error, part);
}

static void
test_rejected (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  reject ("lr", "is not a list of values");
  reject ("lr=1,2", "lr is swept twice");
  reject ("seed=1,2,3", "seed has 3 values, expected 2 like lr");
  reject ("banana=1,2", "no setting 'banana'");
  reject ("batch=1,x", "batch is 'x'");
  reject ("checkpoint=a,b", "each run has its own file");
  reject ("7.out-features=1,2", "7");
  reject ("0.colour=1,2", "linear at 0 has no parameter 'colour'");
  reject ("0.out-features=1,wide", "expected a whole number");
  /* Each value by itself is valid; together they contradict each other in one point. */
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  add (sweep, "warmup=2,5", FALSE);
  g_assert_false (lig_sweep_begin (sweep, f->store, &error));
  assert_message (error, "run 2 of 2 (warmup 5): warmup is 5");
  g_clear_error (&error);
  g_autoptr (LigSweep) large = new_sweep ("steps=3");
  add (large, "seed=0..999", FALSE);
  add (large, "steps=1..11", FALSE);
  g_assert_false (lig_sweep_begin (large, f->store, &error));
  assert_message (error, "more than 10000 runs");
}

static void
test_training (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSweep) sweep = new_sweep ("steps=20 optimizer=sgd");
  guint count;
  add (sweep, "lr=0.0001,0.05", FALSE);
  add (sweep, "seed=1,2", FALSE);
  begin (sweep, f);
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (train_next (sweep, f), ==, i);
  g_assert_cmpint (train_next (sweep, f), ==, -1);
  g_assert_cmpuint (lig_sweep_count_ended (sweep), ==, 4);
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigRunRow) row = lig_store_find_run (f->store, points[i].run, NULL);
    g_autofree char *expected = g_strdup_printf ("\"seed\":%s", points[i].values[1]);
    g_assert_cmpstr (row->sweep, ==, lig_sweep_get_uuid (sweep));
    g_assert_cmpint (row->point, ==, i);
    g_assert_cmpint (row->last_step, ==, 20);
    if (!strstr (row->settings, expected))
      g_assert_cmpuint (row->seed, ==, g_ascii_strtoull (points[i].values[1], NULL, 10));
  }
  /* The larger rate trains further in 20 steps, so it is first. */
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  g_assert_cmpuint (summaries->len, ==, 2);
  const LigSweepSummary *best = summaries->pdata[0], *worst = summaries->pdata[1];
  g_assert_cmpstr (best->values[0], ==, "0.05");
  g_assert_cmpuint (best->count, ==, 2);
  g_assert_cmpfloat (best->mean, <, worst->mean);
  double a = isfinite (points[2].eval_loss) ? points[2].eval_loss : points[2].loss;
  double b = isfinite (points[3].eval_loss) ? points[3].eval_loss : points[3].loss;
  g_assert_cmpfloat_with_epsilon (best->mean, (a + b) / 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (best->std, fabs (a - b) / sqrt (2), 1e-12);
  g_assert_cmpuint (best->best, ==, a < b ? 2 : 3);
}

/* Another process, which has only the store, continues with the missing points. */
static void
test_continued (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint count;
  g_autoptr (LigSweep) sweep = new_sweep ("steps=40");
  add (sweep, "lr=0.1,0.01,0.001", FALSE);
  begin (sweep, f);
  g_assert_cmpint (train_next (sweep, f), ==, 0);
  g_autoptr (LigRun) run = lig_sweep_prepare (sweep, 1, f->device, &error);
  g_assert_no_error (error);
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (run));
  lig_run_pause (run);
  lig_run_interrupt (run);
  lig_run_start (run);
  lig_run_wait (run, &error);
  g_assert_no_error (error);
  assert_status (f, uuid, "interrupted");
  g_autoptr (LigSweep) again = lig_sweep_open (f->store, "last", &error);
  g_assert_no_error (error);
  g_assert_cmpint (lig_sweep_next (again), ==, 1);
  g_assert_cmpint (train_next (again, f), ==, 1);
  const LigSweepPoint *points = lig_sweep_get_points (again, &count);
  g_assert_cmpstr (points[1].run, ==, uuid);
  g_assert_cmpstr (points[1].status, ==, "done");
  g_assert_cmpint (train_next (again, f), ==, 2);
  g_assert_cmpint (train_next (again, f), ==, -1);
  g_assert_cmpuint (count_runs (f), ==, 3);
}

/* The record has the number of ranks; only as many can continue it. */
static void
test_ranks (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  g_assert_cmpint (lig_sweep_get_ranks (sweep), ==, 1);
  g_assert_null (lig_sweep_get_parallel (sweep));
  lig_sweep_set_ranks (sweep, 4, "data=2,tensor=2");
  add (sweep, "lr=0.1,0.01", FALSE);
  begin (sweep, f);
  g_autoptr (LigSweep) again = lig_sweep_open (f->store, "last", &error);
  g_assert_no_error (error);
  g_assert_cmpint (lig_sweep_get_ranks (again), ==, 4);
  g_assert_cmpstr (lig_sweep_get_parallel (again), ==, "data=2,tensor=2");
  g_autoptr (LigSweep) own = lig_sweep_share (again, NULL, &error);
  g_assert_true (own == again);
  g_assert_null (lig_sweep_prepare (again, 0, f->device, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_true (g_str_has_prefix (error->message, "ranks: 1, expected 4"));
  g_assert_cmpuint (count_runs (f), ==, 0);
}

/* A failing run does not end the sweep; it is repeated only on request. */
static void
test_failed (Fixture *f, gconstpointer data)
{
  guint count;
  g_autoptr (LigSweep) sweep = new_sweep ("steps=50 optimizer=sgd");
  add (sweep, "lr=100000,0.01", FALSE);
  begin (sweep, f);
  g_assert_cmpint (train_next (sweep, f), ==, 0);
  g_assert_cmpint (train_next (sweep, f), ==, 1);
  g_assert_cmpint (lig_sweep_next (sweep), ==, -1);
  const LigSweepPoint *points = lig_sweep_get_points (sweep, &count);
  g_assert_cmpstr (points[0].status, ==, "failed");
  g_assert_nonnull (strstr (points[0].message, "smaller lr"));
  g_autoptr (GPtrArray) summaries = lig_sweep_summarize (sweep);
  g_assert_cmpstr (((LigSweepSummary *) summaries->pdata[0])->values[0], ==, "0.01");
  g_assert_cmpuint (((LigSweepSummary *) summaries->pdata[1])->count, ==, 0);
  lig_sweep_retry (sweep);
  g_assert_cmpint (lig_sweep_next (sweep), ==, 0);
}

static void
test_time_left (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSweep) sweep = new_sweep ("steps=100");
  LigRunProgress progress = {.step = 50, .steps = 100, .seconds = 5};
  add (sweep, "steps=100,300", FALSE);
  begin (sweep, f);
  g_assert_true (isnan (lig_sweep_estimate_left (sweep, -1, NULL)));
  /* 50 steps took 5 s, so 50 and 300 more take 35 s. */
  g_assert_cmpfloat_with_epsilon (lig_sweep_estimate_left (sweep, 0, &progress), 35, 1e-9);
}

static void
test_json (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSweep) sweep = new_sweep ("steps=2");
  add (sweep, "lr=0.1,0.01", FALSE);
  begin (sweep, f);
  train_next (sweep, f);
  g_autoptr (JsonNode) root = lig_sweep_to_json (sweep);
  JsonObject *object = json_node_get_object (root);
  g_assert_cmpstr (json_object_get_string_member (object, "status"), ==, "incomplete");
  JsonObject *first =
    json_array_get_object_element (json_object_get_array_member (object, "runs"), 0);
  JsonObject *settings = json_object_get_object_member (first, "settings");
  g_assert_cmpfloat (json_object_get_double_member (settings, "lr"), ==, 0.1);
  g_assert_cmpstr (json_object_get_string_member (first, "status"), ==, "done");
  g_assert_cmpuint (json_array_get_length (json_object_get_array_member (object, "groups")), ==, 2);
}

/* Records a finished run of a point with this validation loss. */
static void
put_result (Fixture *f, LigSweep *sweep, guint point, double loss)
{
  g_autoptr (GError) error = NULL;
  const LigRunRecord record = {.name = "swept",
                               .sequence = "{}",
                               .kind = "train",
                               .device = "cpu",
                               .dtype = "fp32",
                               .recipe = "none",
                               .policy = "all",
                               .settings = "{}",
                               .versions = "{}"};
  g_autofree char *run = lig_store_begin_run (f->store, &record, &error);
  g_assert_no_error (error);
  lig_store_add_metric (f->store, run, 1, LIG_METRIC_EVAL_LOSS, loss);
  g_assert_true (lig_store_finish_run (f->store, run, "done", NULL, &error));
  g_assert_true (lig_store_set_sweep (f->store, run, lig_sweep_get_uuid (sweep), point, &error));
}

/* The settings with the best mean are the best ones, although a lucky seed of others has the lowest
 * loss. */
static void
test_best (Fixture *f, gconstpointer data)
{
  static const double losses[] = {0.1, 0.9, 0.3, 0.2, 0.6, 0.7};
  static const guint ranks[] = {1, 1, 0, 0, 2, 2};
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  add (sweep, "lr=0.1,0.01,0.001", FALSE);
  add (sweep, "seed=1..2", FALSE);
  begin (sweep, f);
  g_assert_cmpint (lig_sweep_find_best (sweep), ==, -1);
  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    put_result (f, sweep, i, losses[i]);
  g_assert_true (lig_sweep_refresh (sweep, NULL));
  g_assert_cmpint (lig_sweep_find_best (sweep), ==, 3);
  g_autofree guint *found = lig_sweep_rank (sweep);
  for (guint i = 0; i < G_N_ELEMENTS (ranks); i++)
    g_assert_cmpuint (found[i], ==, ranks[i]);
  g_autofree char *settings = lig_sweep_describe_settings (sweep, 3);
  g_assert_cmpstr (settings, ==, "lr 0.01");
  g_autoptr (JsonNode) root = lig_sweep_to_json (sweep);
  JsonObject *best = json_object_get_object_member (json_node_get_object (root), "best");
  g_assert_cmpuint (json_object_get_size (best), ==, 1);
  g_assert_cmpfloat (json_object_get_double_member (best, "lr"), ==, 0.01);
}

/* A point's values are set in a sequence of the user; what it has besides is kept. */
static void
test_apply (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSweep) sweep = new_sweep ("steps=3");
  add (sweep, "lr=0.1,0.5", FALSE);
  add (sweep, "0.out-features=4,6", TRUE);
  add (sweep, "recipe=none,fp8-current", TRUE);
  add (sweep, "seed=7,8", TRUE);
  begin (sweep, f);
  g_autoptr (LigSequence) mine = lig_sequence_open ("linear(9, bias=false) ! gelu", NULL, NULL);
  lig_sequence_set_train (mine, "{\"steps\":70,\"own\":true,\"lr\":0.2}");
  g_autoptr (LigSequence) result = lig_sweep_apply_point (sweep, 1, mine, &error);
  g_assert_no_error (error);
  g_autofree char *before = lig_sequence_to_expression (mine);
  g_autofree char *after = lig_sequence_to_expression (result);
  g_assert_true (g_str_has_prefix (before, "linear(9, bias=false) ! gelu"));
  g_assert_true (g_str_has_prefix (after, "linear(6, bias=false) ! gelu"));
  g_assert_cmpstr (lig_sequence_get_recipe (result), ==, "fp8-current");
  g_assert_cmpstr (lig_sequence_get_train (result), ==,
                   "{\"steps\": 70, \"own\": true, \"lr\": 0.5}");
  g_autoptr (LigSequence) other = lig_sequence_open ("gelu", NULL, NULL);
  g_assert_null (lig_sweep_apply_point (sweep, 1, other, &error));
  assert_message (error, "gelu at 0 has no parameter 'out-features'");
}

/* Each point has its own copy of the sequence, with its own recipe. */
static void
test_recipe (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  static const char *const expected[] = {"none", "fp8-current"};
  g_autoptr (LigSweep) sweep = new_sweep ("steps=2");
  g_assert_false (lig_sweep_add (sweep, "recipe=none,fp9", FALSE, &error));
  g_assert_nonnull (strstr (error->message, "'fp9'"));
  add (sweep, "recipe=none,fp8-current", FALSE);
  begin (sweep, f);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_auto (LigRunSettings) settings;
    g_autoptr (LigSequence) sequence = lig_sweep_get_training (sweep, i, &settings, NULL);
    const char *recipe = lig_sequence_get_recipe (sequence);
    g_assert_cmpstr (recipe ? recipe : "none", ==, expected[i]);
    g_assert_cmpint (train_next (sweep, f), ==, (int) i);
  }
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test) (Fixture *f, gconstpointer data);
  } tests[] = {
    {"grid", test_grid},           {"zip-and-list", test_zip_and_list},
    {"rejected", test_rejected},   {"training", test_training},
    {"continued", test_continued}, {"failed", test_failed},
    {"time-left", test_time_left}, {"json", test_json},
    {"ranks", test_ranks},         {"recipe", test_recipe},
    {"best", test_best},           {"apply", test_apply},
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++) {
    g_autofree char *path = g_strconcat ("/train/sweep/", tests[i].name, NULL);
    g_test_add (path, Fixture, NULL, set_up, tests[i].test, tear_down);
  }
  return run_tests ();
}
