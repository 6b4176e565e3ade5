/* SPDX-License-Identifier: MIT */
/* `lig runs export`: metrics of one run and of several, for other tools. */
#include "tests/cli/runs-store.h"

static void
test_one (void)
{
  make_store ();
  g_auto (Outcome) loss = lig ("runs", "export", "large", "--metric", "loss", "-o", "-", NULL);
  g_assert_cmpint (loss.code, ==, 0);
  g_assert_true (g_str_has_prefix (loss.out, "step,loss\n1,"));
  g_assert_true (g_str_has_suffix (loss.out, "\n50,0.9\n"));
  g_auto (GStrv) lines = g_strsplit (loss.out, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 52);
  g_auto (Outcome) plain = lig ("runs", "export", "large", "--metric", "loss", NULL);
  g_assert_cmpstr (plain.out, ==, loss.out);
  g_auto (Outcome) piped = shell (
    "lig runs export large --metric loss -o - | awk -F, 'NR > 1 { s += $1 } END { print s }'");
  g_assert_cmpstr (piped.out, ==, "1275\n");
  g_auto (Outcome) all = shell ("lig runs export large | head -n 1");
  g_assert_cmpstr (all.out, ==, "step,eval-loss,learning-rate,loss,step-ms\n");
  /* A step without an evaluation has an empty cell. */
  g_auto (Outcome) two = shell ("lig runs export large --metric eval-loss --metric learning-rate |"
                                " sed -n '1p;2p;$p'");
  g_assert_cmpstr (two.out, ==, "step,eval-loss,learning-rate\n1,,0.01\n50,0.35,0.01\n");
}

/* `last` is the last training run: a profile has no metrics. */
static void
test_several (void)
{
  make_store ();
  g_auto (Outcome) both = shell ("lig runs export large small~1 --metric eval-loss");
  g_assert_cmpstr (both.out, ==,
                   "run,name,step,eval-loss\n" SECOND ",large,25,0.35\n" SECOND
                   ",large,50,0.35\n" THIRD ",small,25,0.3\n" THIRD ",small,50,0.44\n");
  g_auto (Outcome) chosen =
    shell ("lig runs export --kind train --sort eval-loss --limit 2 --metric eval-loss");
  g_assert_cmpstr (chosen.out, ==, both.out);
  g_auto (Outcome) file = lig ("runs", "export", "large", "2222", "-o", "two.csv", "--json", NULL);
  g_assert_cmpint (file.code, ==, 0);
  g_assert_cmpuint (length_at (file.json, "runs"), ==, 2);
  g_assert_cmpint (int_at (file.json, "metrics"), ==, 4);
  g_auto (Outcome) rows = shell ("grep -c . two.csv");
  g_assert_cmpstr (rows.out, ==, "101\n");
}

static void
test_json (void)
{
  make_store ();
  g_auto (Outcome) one = lig ("runs", "export", "large", "--metric", "loss", "--json", NULL);
  g_assert_cmpstr (text_at (one.json, "run"), ==, SECOND);
  assert_keys (at (one.json, "metrics"), "loss");
  g_assert_cmpuint (length_at (one.json, "metrics.loss.values"), ==, 50);
  g_auto (Outcome) several = lig ("runs", "export", "large", "small~2", "--json", NULL);
  g_assert_cmpstr (text_at (several.json, "1.run"), ==, FIRST);
  g_auto (Outcome) shown = lig ("runs", "export", "large", "--format", "json", "-o", "-", NULL);
  g_assert_cmpstr (text_at (shown.json, "run"), ==, SECOND);
}

static void
test_rejected (void)
{
  make_store ();
  g_auto (Outcome) other =
    lig ("runs", "export", "large", "--metric", "eval_loss", "--metric", "lr", "--json", NULL);
  assert_keys (at (other.json, "metrics"), "eval-loss learning-rate");
  g_auto (Outcome) metric = lig ("runs", "export", "large", "--metric", "los", "--json", NULL);
  assert_failed (&metric, 1, "value", "did you mean 'loss'?");
  g_auto (Outcome) ending = lig ("runs", "export", "large", "-o", "x.txt", "--json", NULL);
  assert_failed (&ending, 2, "usage", "ends in neither .csv nor .json");
  g_auto (Outcome) format = lig ("runs", "export", "large", "--format", "xml", "--json", NULL);
  assert_failed (&format, 2, "usage", "expected csv or json");
  g_auto (Outcome) both = lig ("runs", "export", "large", "--format", "csv", "--json", NULL);
  assert_failed (&both, 2, "usage", "both write to standard output");
  g_auto (Outcome) profile = lig ("runs", "export", "3333", NULL);
  g_assert_cmpint (profile.code, ==, 1);
  assert_contains (profile.err, "run 33330000 a probe is a profile, which has no metrics");
  g_auto (Outcome) none = lig ("runs", "export", "--json", NULL);
  assert_failed (&none, 2, "usage", "select runs");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-export/one", test_one);
  g_test_add_func ("/cli-runs-export/several", test_several);
  g_test_add_func ("/cli-runs-export/json", test_json);
  g_test_add_func ("/cli-runs-export/rejected", test_rejected);
  return run_store_tests (argc, argv);
}
