/* SPDX-License-Identifier: MIT */
/* A sweep among runs: it cannot be repeated like a run, and its runs are selected by --sweep. */
#include "tests/cli/runs-store.h"

/* Returns the uuid of a new sweep of two runs. */
static char *
sweep (void)
{
  g_auto (Outcome) outcome =
    lig ("sweep", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--over", "lr=0.1,0.01", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  return g_strdup (text_at (outcome.json, "sweep"));
}

static void
test_repeat (void)
{
  g_autofree char *uuid = sweep ();
  g_auto (Outcome) listed =
    lig ("runs", "list", "--sweep", "last", "--sort", "-lr", "--json", NULL);
  g_assert_cmpuint (json_array_get_length (json_node_get_array (listed.json)), ==, 2);
  g_assert_cmpfloat (json_node_get_double (at (listed.json, "0.settings.lr")), ==, 0.1);
  const char *const files[] = {"sweep.json", "sweep.html"};
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_auto (Outcome) report = lig ("report", uuid, "-o", files[i], NULL);
    g_assert_cmpint (report.code, ==, 0);
    g_auto (Outcome) repeated = lig ("runs", "repeat", files[i], "--json", NULL);
    g_autofree char *named = g_strdup_printf ("repeat one of its runs, or a report of one: %.8s, ",
                                              text_at (listed.json, "0.run"));
    assert_failed (&repeated, 1, "format", named);
  }
  g_autofree char *selector = g_strndup (uuid, 8);
  g_auto (Outcome) selected = lig ("runs", "repeat", selector, "--json", NULL);
  g_autofree char *command = g_strdup_printf ("lig runs list --sweep %s", selector);
  assert_failed (&selected, 1, "value", command);
  g_auto (Outcome) pasted = shell (command);
  g_assert_cmpint (pasted.code, ==, 0);
}

static void
test_selected (void)
{
  g_autofree char *uuid = sweep ();
  g_auto (Outcome) compared = lig ("runs", "compare", "--sweep", "last", NULL);
  g_assert_true (g_regex_match_simple ("lr +0\\.1 +0\\.01\n", compared.out, 0, 0));
  g_auto (Outcome) exported = shell ("lig runs export --sweep last --metric loss | grep -c .");
  g_assert_cmpstr (exported.out, ==, "7\n");
  g_auto (Outcome) min =
    shell ("lig runs list --sweep last --sort lr --limit 1 --columns lr | tail -n 1");
  g_assert_cmpstr (min.out, ==, "0.01\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-sweep/repeat", test_repeat);
  g_test_add_func ("/cli-runs-sweep/selected", test_selected);
  return run_store_tests (argc, argv);
}
