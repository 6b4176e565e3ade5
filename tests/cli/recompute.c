/* SPDX-License-Identifier: MIT */
/* Tests --recompute, and the output of commands about recomputed values. */
#include "tests/cli/case.h"

#define MODEL "block(4) { layer-norm ! linear(64) ! gelu ! linear(16) }"
#define ARGUMENTS "--input", "32x16", "--device", "null:h200", "--policy", "none"

static void
test_plan (void)
{
  g_auto (Outcome) none = lig ("plan", MODEL, ARGUMENTS, "--json", NULL);
  g_auto (Outcome) cheap = lig ("plan", MODEL, ARGUMENTS, "--recompute", "cheap", "--json", NULL);
  g_auto (Outcome) text = lig ("plan", MODEL, ARGUMENTS, "--recompute", "cheap", NULL);
  g_auto (Outcome) fuse = lig ("fuse", MODEL, ARGUMENTS, "--recompute", "cheap", NULL);
  g_auto (Outcome) own =
    lig ("plan", "block(4, recompute=cheap) { layer-norm ! linear(64) ! gelu ! linear(16) }",
         ARGUMENTS, "--json", NULL);
  gint64 spared = int_at (cheap.json, "spared_bytes");
  g_assert_cmpstr (text_at (none.json, "recompute"), ==, "none");
  g_assert_cmpstr (text_at (cheap.json, "recompute"), ==, "cheap");
  g_assert_cmpint (int_at (none.json, "spared_bytes"), ==, 0);
  g_assert_cmpint (spared, >, 0);
  g_assert_cmpint (int_at (cheap.json, "live_peak"), ==, int_at (none.json, "live_peak") - spared);
  g_assert_cmpint (int_at (own.json, "spared_bytes"), ==, spared);
  assert_contains (text.out, "values recomputed in backward: ");
  assert_contains (fuse.out, "values recomputed in backward: ");
}

static void
test_rejected (void)
{
  g_auto (Outcome) plan = lig ("plan", MODEL, ARGUMENTS, "--recompute", "most", NULL);
  g_auto (Outcome) train =
    lig ("train", "linear(8) ! cross-entropy", "--input", "4x8", "--data", "synthetic", "--steps",
         "1", "--device", "cpu", "--recompute", "most", NULL);
  g_assert_cmpint (plan.code, ==, 2);
  assert_contains (plan.err, "--recompute is 'most', expected none, cheap");
  g_assert_cmpint (train.code, !=, 0);
  assert_contains (train.err, "recompute is 'most', expected none, cheap");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/recompute/plan", test_plan);
  g_test_add_func ("/cli/recompute/rejected", test_rejected);
  return g_test_run ();
}
