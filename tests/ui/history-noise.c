/* SPDX-License-Identifier: MIT */
/* Step times of runs are compared with their noise. */
#include "tests/store/case.h"
#include "ui/history/differences.h"

#include <ligature/store-spreads.h>
#include <math.h>

/* Adds a run of 200 steps around a time, with the middle half within ± @spread. */
static LigRunRow *
add_training (LigStore *store, const char *name, double milliseconds, double spread)
{
  g_autofree char *run = begin (store, name);
  for (int i = 0; i < 200; i++)
    lig_store_add_metric (store, run, i + 1, "step-ms",
                          milliseconds + spread * 2 * ((i * 37 % 200) / 100. - 1));
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
  return find (store, run);
}

static LigRunRow *
add_profile (LigStore *store, double microseconds)
{
  LigRunRecord record = example;
  record.kind = "profile";
  g_autofree char *run = lig_store_begin_run (store, &record, NULL);
  LigSpreadRow row = {"step", 15, microseconds, microseconds - 2, microseconds + 2};
  g_assert_true (lig_store_put_spread (store, run, &row, NULL));
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
  return find (store, run);
}

static const LigLine *
find_line (GPtrArray *lines, const char *name)
{
  for (guint i = 0; i < lines->len; i++)
    if (g_strcmp0 (((const LigLine *) lines->pdata[i])->name, name) == 0)
      return lines->pdata[i];
  g_error ("there is no line %s", name);
}

static void
test_trainings (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_ptr_array_add (runs, add_training (store, "a", 53.4, 8));
  g_ptr_array_add (runs, add_training (store, "b", 54.9, 9));
  g_ptr_array_add (runs, add_training (store, "c", 90, 9));
  g_autoptr (GPtrArray) lines = lig_compare_runs (store, runs, &error);
  g_assert_no_error (error);
  const LigLine *step = find_line (lines, "median-step-ms");
  g_autofree char *same = lig_line_get_delta (step, 1), *slower = lig_line_get_delta (step, 2);
  g_test_message ("%s; %s", same, slower);
  g_assert_true (g_str_has_prefix (same, "no difference (noise "));
  g_assert_cmpint (lig_line_judge (step, 1), ==, 0);
  g_assert_nonnull (strstr (slower, "worse"));
  g_assert_cmpint (lig_line_judge (step, 2), ==, -1);
  const LigLine *quartiles = find_line (lines, "step-quartiles");
  g_assert_true (g_str_has_suffix (quartiles->cells[0], " ms (200)"));
}

static void
test_profiles (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_ptr_array_add (runs, add_profile (store, 1000));
  g_ptr_array_add (runs, add_profile (store, 1003));
  g_ptr_array_add (runs, add_profile (store, 900));
  g_autoptr (GPtrArray) lines = lig_compare_runs (store, runs, &error);
  g_assert_no_error (error);
  const LigLine *step = find_line (lines, "median-step-ms");
  g_autofree char *same = lig_line_get_delta (step, 1), *faster = lig_line_get_delta (step, 2);
  g_assert_cmpstr (same, ==, "no difference (noise 0.5 %)");
  g_assert_cmpstr (faster, ==, "−0.1 (−10 %), better");
}

/* The loss of the last batch says nothing; the end of the run does. */
static void
test_losses (Fixture *f, gconstpointer data)
{
  static const double losses[] = {0.5, 0.502, 0.7};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  for (guint i = 0; i < G_N_ELEMENTS (losses); i++) {
    g_autofree char *run = begin (store, "a");
    for (int step = 1; step <= 200; step++)
      lig_store_add_metric (store, run, step, LIG_METRIC_LOSS,
                            losses[i] + 0.1 * ((step * 37 % 20) / 20. - 0.5) +
                              0.05 * (step == 200));
    g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
    g_ptr_array_add (runs, find (store, run));
  }
  g_autoptr (GPtrArray) lines = lig_compare_runs (store, runs, &error);
  g_assert_no_error (error);
  const LigLine *line = find_line (lines, LIG_METRIC_LOSS);
  g_autofree char *same = lig_line_get_delta (line, 1), *worse = lig_line_get_delta (line, 2);
  g_assert_true (g_str_has_prefix (same, "no difference (noise "));
  g_assert_cmpint (lig_line_judge (line, 1), ==, 0);
  g_assert_true (g_str_has_suffix (worse, ", worse"));
}

/* Adds a run whose last evaluation counted that many of `rows` as correct; 0 rows: not recorded. */
static LigRunRow *
add_classifier (LigStore *store, const char *name, int correct, int rows)
{
  g_autofree char *run = begin (store, name);
  lig_store_add_metric (store, run, 1, LIG_METRIC_EVAL_ACCURACY, correct / 150.);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
  LigRunRow *row = find (store, run);
  row->eval_rows = rows;
  return row;
}

/* One row of 150 is not a worse model. */
static void
test_accuracies (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  g_ptr_array_add (runs, add_classifier (store, "a", 147, 150));
  g_ptr_array_add (runs, add_classifier (store, "b", 146, 150));
  g_ptr_array_add (runs, add_classifier (store, "c", 120, 150));
  g_ptr_array_add (runs, add_classifier (store, "d", 146, 0));
  g_autoptr (GPtrArray) lines = lig_compare_runs (store, runs, &error);
  g_assert_no_error (error);
  const LigLine *line = find_line (lines, LIG_METRIC_EVAL_ACCURACY);
  g_autofree char *same = lig_line_get_delta (line, 1), *worse = lig_line_get_delta (line, 2);
  g_autofree char *unknown = lig_line_get_delta (line, 3);
  g_assert_cmpstr (same, ==, "no difference that 150 rows could show");
  g_assert_cmpint (lig_line_judge (line, 1), ==, 0);
  g_assert_true (g_str_has_suffix (worse, ", worse"));
  g_assert_cmpint (lig_line_judge (line, 2), ==, -1);
  g_assert_true (g_str_has_suffix (unknown, ", worse"));
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/ui/history-noise/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("trainings", test_trainings);
  ADD ("profiles", test_profiles);
  ADD ("losses", test_losses);
  ADD ("accuracies", test_accuracies);
  return g_test_run ();
}
