/* SPDX-License-Identifier: MIT */
/* `lig runs compare`: settings that differ, medians against the noise, and the width. */
#include "tests/cli/runs-store.h"

/* The two runs have almost the same loss, with more noise than difference. */
static void
test_noise (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "compare", "1111000", "2222", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "setting  11110000  22220000\n"
                                "steps          50       100\n"
                                "lr          0.001      0.01\n\n");
  g_assert_true (g_regex_match_simple ("loss, median +[0-9.]+ +[0-9.]+ \\(no difference\\)\n",
                                       outcome.out, 0, 0));
  assert_cells (outcome.out, "\neval-loss, last 0.45 0.44 (-0.01)\n");
  assert_cells (outcome.out, "\neval-loss, min 0.4 0.3 (-0.1)\n");
  assert_cells (outcome.out, "\nlearning-rate, last 0.01 0.01 (0)\n");
}

static void
test_difference (void)
{
  make_store ();
  g_auto (Outcome) text = lig ("runs", "compare", "large", "small~2", NULL);
  g_assert_true (g_regex_match_simple (
    "loss, median +0\\.9[0-9]* +0\\.5[0-9]* \\(-0\\.[34][0-9]*\\)\n", text.out, 0, 0));
  /* Distinct names form the header. */
  assert_contains (text.out, "setting  large  small\n"
                             "lr         0.1  0.001\n\n");
  g_auto (Outcome) json = lig ("runs", "compare", "large", "small~2", "--json", NULL);
  assert_keys (json.json, "runs settings numbers steps");
  g_assert_cmpstr (text_at (json.json, "numbers.2.name"), ==, "loss");
  assert_keys (at (json.json, "numbers.2"), "name values deltas min max medians differences");
  g_assert_cmpstr (text_at (json.json, "numbers.2.differences.1"), ==, "less");
  g_assert_cmpstr (text_at (json.json, "numbers.2.differences.0"), ==, "none");
}

static void
test_same (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "compare", "large", "large", NULL);
  assert_contains (outcome.out, "the same settings\n");
  g_assert_true (
    g_regex_match_simple ("loss, median +[0-9.]+ +[0-9.]+ \\(0\\)\n", outcome.out, 0, 0));
  g_assert_null (strstr (outcome.out, "+0)"));
  g_auto (Outcome) one = lig ("runs", "compare", "large", "--json", NULL);
  assert_failed (&one, 2, "usage", "1 run selected, expected at least 2");
}

/* Sets the accuracies of two runs, and the rows that they count. */
static void
set_accuracies (int rows)
{
  g_autofree char *path = in_folder ("runs.db");
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  execute (db, "INSERT OR REPLACE INTO metric VALUES (1, 'eval-accuracy', 50, %f)", 147 / 150.);
  execute (db, "INSERT OR REPLACE INTO metric VALUES (3, 'eval-accuracy', 50, %f)", 146 / 150.);
  execute (db, "UPDATE run SET eval_rows = %d", rows);
  sqlite3_close (db);
}

/* One row of 150 does not make a run worse, but a hundred of 15,000 do. */
static void
test_accuracy (void)
{
  make_store ();
  set_accuracies (150);
  g_auto (Outcome) few = lig ("runs", "compare", "1111000", "2222", NULL);
  assert_cells (few.out, "\neval-accuracy, last 0.98 0.973333 (no difference)\n");
  assert_contains (few.out, "\neval-accuracy: no difference that 150 rows could show\n");
  g_auto (Outcome) json = lig ("runs", "compare", "1111000", "2222", "--json", NULL);
  g_assert_cmpstr (text_at (json.json, "numbers.0.name"), ==, "eval-accuracy");
  g_assert_cmpstr (text_at (json.json, "numbers.0.differences.1"), ==, "none");
  set_accuracies (15000);
  g_auto (Outcome) many = lig ("runs", "compare", "1111000", "2222", NULL);
  assert_cells (many.out, "\neval-accuracy, last 0.98 0.973333 (-0.00667)\n");
  g_assert_null (strstr (many.out, "could show"));
  g_auto (Outcome) less = lig ("runs", "compare", "1111000", "2222", "--json", NULL);
  g_assert_cmpstr (text_at (less.json, "numbers.0.differences.1"), ==, "less");
}

/* Every line fits, and the first run is repeated in the next table. */
static void
test_width (void)
{
  make_store ();
  g_auto (Outcome) narrow = with_columns ("60", "lig runs compare --kind train");
  g_assert_cmpint (narrow.code, ==, 0);
  guint headers = 0;
  g_auto (GStrv) lines = g_strsplit (narrow.out, "\n", -1);
  for (char **line = lines; *line; line++) {
    headers += g_str_has_prefix (*line, "result ") && strstr (*line, "11110000") != NULL;
    g_assert_cmpint (g_utf8_strlen (*line, -1), <=, 60);
  }
  g_assert_cmpuint (headers, >, 1);
  g_auto (Outcome) pipe = with_columns (NULL, "lig runs compare --kind train");
  g_assert_true (
    g_regex_match_simple ("result +11110000 +11112222 +22220000 +44440000\n", pipe.out, 0, 0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-compare/noise", test_noise);
  g_test_add_func ("/cli-runs-compare/difference", test_difference);
  g_test_add_func ("/cli-runs-compare/same", test_same);
  g_test_add_func ("/cli-runs-compare/accuracy", test_accuracy);
  g_test_add_func ("/cli-runs-compare/width", test_width);
  return run_store_tests (argc, argv);
}
