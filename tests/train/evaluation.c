/* SPDX-License-Identifier: MIT */
/* The default validation schedule: about 20 evaluations, on a subset if the validation set is
 * large, none without one; they do not affect training. */
#include "tests/train/case.h"
#include <ligature/device.h>

#define EXPRESSION "linear(5) ! cross-entropy"

/* Returns the steps of the evaluations; the caller frees them. */
static GArray *
evaluate (Fixture *f, const char *data, const char *settings, GArray **training)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = new_run (f, EXPRESSION, "8x4", data, settings);
  GArray *steps = NULL;
  g_autoptr (GArray) losses = NULL;
  finish (run);
  lig_store_get_metric (f->store, lig_run_get_uuid (run), LIG_METRIC_EVAL_LOSS, &steps, &losses,
                        &error);
  g_assert_no_error (error);
  if (training) {
    g_autoptr (GArray) numbers = NULL;
    lig_store_get_metric (f->store, lig_run_get_uuid (run), LIG_METRIC_LOSS, &numbers, training,
                          &error);
    g_assert_no_error (error);
  }
  return steps;
}

static gint64
step_at (GArray *steps, guint i)
{
  return g_array_index (steps, gint64, i);
}

static void
test_default (Fixture *f, gconstpointer data)
{
  /* 10 of 100 samples are for validation: two batches. */
  g_autoptr (GArray) steps = evaluate (f, "synthetic?samples=100", "steps=400", NULL);
  g_assert_cmpuint (steps->len, ==, 20);
  g_assert_cmpint (step_at (steps, 0), ==, 20);
  g_assert_cmpint (step_at (steps, 19), ==, 400);
  /* In a short run there are four steps per evaluation. */
  g_autoptr (GArray) few = evaluate (f, "synthetic?samples=100", "steps=30", NULL);
  g_assert_cmpuint (few->len, ==, 8);
  g_assert_cmpint (step_at (few, 0), ==, 4);
  g_assert_cmpint (step_at (few, 7), ==, 30);
}

/* There are 250 validation batches. Intermediate evaluations use a part of them, the last one all:
 * its loss is that of a single evaluation. */
static void
test_large (Fixture *f, gconstpointer data)
{
  double last[3];
  static const char *const settings[] = {"steps=120", "steps=120 eval-every=120",
                                         "steps=120 eval-every=120 eval-batches=1"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autoptr (LigRun) run = new_run (f, EXPRESSION, "8x4", "synthetic?samples=20000", settings[i]);
    last[i] = finish (run).eval_loss;
  }
  g_assert_cmpfloat (last[0], ==, last[1]);
  g_assert_cmpfloat (last[0], !=, last[2]);
  g_autoptr (GArray) large = evaluate (f, "synthetic?samples=20000", "steps=120", NULL);
  g_assert_cmpuint (large->len, ==, 20);
  /* With gradient accumulation a step is more than one batch. */
  g_autoptr (GArray) accumulated =
    evaluate (f, "synthetic?samples=20000", "steps=20 accumulate=4", NULL);
  g_assert_cmpuint (accumulated->len, ==, 20);
}

/* The last validation batch is padded with targets that the loss ignores, for any ignored
 * target. */
static void
test_ignored (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "classes.csv", NULL);
  g_autofree char *spec = g_strdup_printf ("csv:%s?task=class", path);
  g_autoptr (GString) rows = g_string_new ("a,b,c\n");
  for (int i = 0; i < 103; i++)
    g_string_append_printf (rows, "%d,%d,%d\n", i % 7, i % 5, i % 4);
  g_assert_true (g_file_set_contents (path, rows->str, -1, NULL));
  g_autoptr (LigRun) run =
    new_run (f, "linear(4) ! cross-entropy(ignored=1)", "8x2", spec, "steps=4");
  g_assert_true (isfinite (finish (run).eval_loss));
  /* The store has the number of rows that the accuracy counts: those of other targets. */
  g_autoptr (LigRunRow) row = lig_store_find_run (f->store, lig_run_get_uuid (run), NULL);
  g_assert_cmpint (row->eval_rows, >, 0);
  g_assert_cmpint (row->eval_rows, <, 10);
  double correct = row->eval_accuracy * (double) row->eval_rows;
  g_assert_cmpfloat_with_epsilon (correct, round (correct), 1e-9);
}

/* Validation data of more than 8 million values are sampled at the end: 256 of 270 batches. */
static void
test_sampled (Fixture *f, gconstpointer data)
{
  double last[3];
  static const char *const settings[] = {"steps=1", "steps=1 eval-batches=256",
                                         "steps=1 eval-batches=270"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autoptr (LigRun) run = new_run (f, "linear(1) ! mean-squared-error", "1x32768",
                                      "synthetic?samples=2700", settings[i]);
    last[i] = finish (run).eval_loss;
  }
  g_assert_cmpfloat (last[0], ==, last[1]);
  g_assert_cmpfloat (last[0], !=, last[2]);
}

static void
test_none (Fixture *f, gconstpointer data)
{
  g_autoptr (GArray) steps = evaluate (f, "synthetic?samples=100&validation=0", "steps=40", NULL);
  g_assert_cmpuint (steps->len, ==, 0);
}

/* A run has the same losses with any number of evaluations. */
static void
test_influence (Fixture *f, gconstpointer data)
{
  g_autoptr (GArray) often = NULL, seldom = NULL;
  g_autoptr (GArray) many = evaluate (f, "synthetic?samples=100", "steps=200", &often);
  g_autoptr (GArray) one =
    evaluate (f, "synthetic?samples=100", "steps=200 eval-every=200", &seldom);
  g_assert_cmpuint (many->len, ==, 20);
  g_assert_cmpuint (one->len, ==, 1);
  g_assert_cmpmem (often->data, often->len * sizeof (double), seldom->data,
                   seldom->len * sizeof (double));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(path, function) \
  g_test_add ("/train-evaluation/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("default", test_default);
  ADD ("large", test_large);
  ADD ("ignored", test_ignored);
  ADD ("sampled", test_sampled);
  ADD ("none", test_none);
  ADD ("influence", test_influence);
  return g_test_run ();
}
