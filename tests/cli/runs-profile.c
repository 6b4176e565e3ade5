/* SPDX-License-Identifier: MIT */
/* The texts of `lig runs` about profiles: times and conditions, no JSON and no empty rows. */
#include "tests/cli/runs-store.h"

static void
profile (const char *policy)
{
  g_auto (Outcome) outcome =
    lig ("profile", "linear(4) ! gelu", "--input", "16x8", "--device", "cpu", "--policy", policy,
         "--store", "p.db", "--steps", "5", "-q", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
}

static void
test_show (void)
{
  profile ("none");
  g_auto (Outcome) shown = shell ("lig runs show last --store p.db");
  g_assert_cmpint (shown.code, ==, 0);
  assert_contains (shown.out, "\nConditions of the measurement\n");
  assert_contains (shown.out, "\n  cpus ");
  assert_contains (shown.out, "\nTimes\n  time ");
  assert_contains (shown.out, "\n  step ");
  g_assert_null (strchr (shown.out, '{'));
  g_assert_null (strstr (shown.out, "null"));
}

static void
test_compare (void)
{
  profile ("none");
  profile ("all");
  g_auto (Outcome) compared = shell ("lig runs compare last last~1 --store p.db");
  g_assert_cmpint (compared.code, ==, 0);
  assert_contains (compared.out, "\ntime of a step ");
  g_assert_null (strstr (compared.out, "null"));
  g_assert_null (strstr (compared.out, "\n\n\n"));
  g_assert_null (strstr (compared.out, "result"));
}

/* A training run has none of the figures of a profile. */
static void
test_mixed (void)
{
  profile ("all");
  g_auto (Outcome) trained =
    lig ("train", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--store", "p.db", "--name", "t", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) compared =
    shell ("lig runs compare last~1 t --store p.db | grep -E '^(health|versions)' |"
           " grep -cvE '  +[^ -]'");
  g_assert_cmpstr (compared.out, ==, "0\n");
}

/* A single plan is not compared, and no line of a table ends in spaces. */
static void
test_tables (void)
{
  g_auto (Outcome) single = shell ("lig profile 'linear(4) ! gelu' --input 16x8 --device cpu"
                                   " --store p.db --steps 5 -q");
  g_assert_null (strstr (single.out, "vs. first"));
  g_auto (Outcome) both = shell ("lig profile 'linear(4) ! gelu' --input 16x8 --device cpu"
                                 " --store p.db --steps 5 -q --compare none,all");
  assert_contains (both.out, "vs. first");
  g_auto (Outcome) list = shell ("lig runs list --store p.db");
  assert_contains (list.out, "tags");
  g_assert_null (strstr (list.out, " \n"));
}

/* The message names the file, and the command that does not need one. */
static void
test_lost (void)
{
  g_auto (Outcome) trained = lig (
    "train", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic", "--steps",
    "3", "--device", "cpu", "--store", "p.db", "--checkpoint", "lost.st", "--name", "lost", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) resumed =
    shell ("rm lost.st; lig train --resume lost --steps 9 --store p.db --json");
  assert_failed (&resumed, 1, "file", "lost.st' is missing; lig runs repeat ");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-profile/show", test_show);
  g_test_add_func ("/cli-runs-profile/compare", test_compare);
  g_test_add_func ("/cli-runs-profile/mixed", test_mixed);
  g_test_add_func ("/cli-runs-profile/tables", test_tables);
  g_test_add_func ("/cli-runs-profile/lost", test_lost);
  return run_store_tests (argc, argv);
}
