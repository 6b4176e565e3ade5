/* SPDX-License-Identifier: MIT */
/* `lig runs repeat`: its exit codes, its document, and reports of other machines. */
#include "tests/cli/case.h"

#define MODEL "linear(8, init-std=0.3) ! gelu ! linear(1) ! mean-squared-error"
#define ROWS "a,b,c\n1,2,3\n2,1,4\n0,1,1\n3,2,4\n1,1,2\n5,2,7\n2,2,4\n1,0,1\n4,4,8\n3,1,4\n"

static void
train (void)
{
  g_autofree char *path = in_folder ("d.csv");
  g_assert_true (g_file_set_contents (path, ROWS, -1, NULL));
  g_auto (Outcome) outcome = lig ("train", MODEL, "--input", "4x2", "--data", "csv:d.csv?target=c",
                                  "--steps", "20", "--device", "cpu", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
}

static void
test_run (void)
{
  train ();
  g_auto (Outcome) outcome = lig ("runs", "repeat", "last", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "bitwise identical for 20 steps\n");
  g_auto (Outcome) show = lig ("runs", "show", "last", NULL);
  assert_contains (show.out, "Repetition of run ");
}

/* The report is sufficient: the store of the other machine is missing. */
static void
test_report (void)
{
  train ();
  g_auto (Outcome) report = lig ("report", "last", "-o", "r.html", NULL);
  g_assert_cmpint (report.code, ==, 0);
  g_auto (Outcome) outcome = lig ("runs", "repeat", "r.html", "--store", "new.db", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  assert_keys (outcome.json, "outcome text steps first_step metric recorded_value repeated_value "
                             "recorded repeated differences repeats run");
  g_assert_cmpstr (text_at (outcome.json, "outcome"), ==, "same");
  g_assert_cmpint (int_at (outcome.json, "steps"), ==, 20);
}

static void
test_different (void)
{
  train ();
  g_autofree char *path = in_folder ("d.csv");
  g_assert_true (g_file_set_contents (
    path, "a,b,c\n9,2,3\n2,1,4\n0,1,1\n3,2,4\n1,1,2\n5,2,9\n2,2,4\n", -1, NULL));
  g_auto (Outcome) outcome = lig ("runs", "repeat", "last", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 1);
  g_assert_cmpstr (text_at (outcome.json, "outcome"), ==, "different");
  g_assert_cmpint (int_at (outcome.json, "first_step"), >, 0);
  g_assert_cmpuint (length_at (outcome.json, "differences"), ==, 2);
}

static void
test_rejected (void)
{
  g_auto (Outcome) none = lig ("runs", "repeat", "abcdef", "--json", NULL);
  assert_failed (&none, 1, "store", "has no run 'abcdef'");
  g_auto (Outcome) plan = lig ("report", "linear(4)", "--input", "2x2", "-o", "p.html", NULL);
  g_assert_cmpint (plan.code, ==, 0);
  g_auto (Outcome) outcome = lig ("runs", "repeat", "p.html", "--json", NULL);
  assert_failed (&outcome, 1, "format", "a plan has nothing to repeat");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/repeat/run", test_run);
  g_test_add_func ("/cli/repeat/report", test_report);
  g_test_add_func ("/cli/repeat/different", test_different);
  g_test_add_func ("/cli/repeat/rejected", test_rejected);
  return run_cli_tests ();
}
