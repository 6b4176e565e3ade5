/* SPDX-License-Identifier: MIT */
/* `lig profile --compare` and `lig runs compare` show quartiles, counts and the noise. */
#include "tests/cli/case.h"

#define SMALL "layer-norm ! linear(16)"

static void
test_profile (void)
{
  g_auto (Outcome) text = lig ("profile", SMALL, "--input", "16x8", "--device", "cpu", "--compare",
                               "none,all", "--steps", "9", NULL);
  g_assert_cmpint (text.code, ==, 0);
  assert_contains (text.out, "quartiles  steps  vs. first");
  g_assert_true (
    g_regex_match_simple ("none  +[0-9.]+( µs)? to [0-9.]+ (µs|ms)      9", text.out, 0, 0));
  g_assert_true (g_regex_match_simple (
    "all .*      9  (no difference \\(noise .* %\\)|.* % (less|more) time|.* times the time)",
    text.out, 0, 0));
  g_auto (Outcome) json =
    lig ("profile", SMALL, "--input", "16x8", "--device", "cpu", "--steps", "9", "--json", NULL);
  g_assert_cmpint (int_at (json.json, "spread.step.count"), ==, 9);
  double median = json_node_get_double (at (json.json, "spread.step.median_us"));
  g_assert_cmpfloat (median, ==, json_node_get_double (at (json.json, "step_us")));
  g_assert_cmpint (int_at (json.json, "conditions.cpus"), >, 0);
}

static void
test_compare (void)
{
  g_auto (Outcome) profiled = lig ("profile", SMALL, "--input", "16x8", "--device", "cpu",
                                   "--compare", "none,all", "--json", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  const char *first = text_at (profiled.json, "0.run"), *second = text_at (profiled.json, "1.run");
  g_auto (Outcome) text = lig ("runs", "compare", first, second, NULL);
  assert_contains (text.out, "time of a step");
  assert_contains (text.out, "vs. first");
  g_auto (Outcome) json = lig ("runs", "compare", first, second, "--json", NULL);
  g_assert_cmpint (int_at (json.json, "steps.1.count"), ==, 15);
  g_assert_cmpstr (text_at (json.json, "steps.0.difference"), ==, "none");
  g_assert_true (at (json.json, "steps.1.noise_us") != NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-spread/profile", test_profile);
  g_test_add_func ("/cli-spread/compare", test_compare);
  return run_cli_tests ();
}
