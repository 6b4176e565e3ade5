/* SPDX-License-Identifier: MIT */
/* `lig runs` in scripts whose variables are empty, zero or too short. */
#include "tests/cli/runs-store.h"

static guint
count_runs (void)
{
  g_auto (Outcome) outcome = lig ("runs", "list", "--json", NULL);
  return json_array_get_length (json_node_get_array (outcome.json));
}

/* A limit of zero is not the absence of a limit, with which all runs would be deleted. */
static void
test_limit (void)
{
  make_store ();
  g_auto (Outcome) all = lig ("runs", "delete", "--all", "--limit", "0", "--yes", "--json", NULL);
  assert_failed (&all, 2, "usage", "--limit is 0, expected at least 1");
  g_auto (Outcome) list = lig ("runs", "list", "--limit", "-1", "--json", NULL);
  assert_failed (&list, 2, "usage", "--limit is -1, expected at least 1");
  g_auto (Outcome) foreign = lig ("runs", "show", "last", "--limit", "0", "--json", NULL);
  assert_failed (&foreign, 2, "usage", "lig runs show has no option --limit");
  g_assert_cmpint (count_runs (), ==, 5);
  g_auto (Outcome) one = lig ("runs", "delete", "--limit", "1", "--yes", "--json", NULL);
  g_assert_cmpint (one.code, ==, 0);
  g_assert_cmpint (count_runs (), ==, 4);
}

/* An empty word is the name of no run, not a selection of none. */
static void
test_empty (void)
{
  static const char *const verbs[] = {"star", "export", "delete", "compare"};
  make_store ();
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++) {
    g_autofree char *line = g_strdup_printf ("lig runs %s '' --json", verbs[i]);
    g_auto (Outcome) outcome = shell (line);
    g_assert_cmpint (outcome.code, ==, 1);
    assert_contains (outcome.out, "has no run ''");
  }
}

/* The message is about the name that is missing, as few users mean the beginning of a uuid. */
static void
test_short (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "show", "d3", "--json", NULL);
  assert_failed (&outcome, 1, "store",
                 "has no run called 'd3'; a uuid needs at least 4 characters");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-scripts/limit", test_limit);
  g_test_add_func ("/cli-runs-scripts/empty", test_empty);
  g_test_add_func ("/cli-runs-scripts/short", test_short);
  return run_store_tests (argc, argv);
}
