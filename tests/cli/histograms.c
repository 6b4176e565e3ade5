/* SPDX-License-Identifier: MIT */
/* `lig train --histograms` and all that shows its result. */
#include "tests/cli/case.h"

#define TRAIN \
  "lig train 'linear(8) ! gelu ! linear(1) ! mean-squared-error'" \
  " --data csv:$LIGATURE_DATA/examples/xor.csv?validation=0 --batch 4 --device cpu --steps 20" \
  " --checkpoint c.safetensors"

static Outcome
train (const char *more)
{
  g_autofree char *line = g_strdup_printf (TRAIN " %s --json", more);
  return shell (line);
}

/* The last histogram of each tensor is a line of a table, aligned at the same powers of two. */
static void
test_show (void)
{
  g_auto (Outcome) trained = train ("--name counted --histograms 8");
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) plain = lig ("runs", "show", "counted", NULL);
  g_assert_null (strstr (plain.out, "gradient  "));
  assert_contains (plain.out, " --histograms\n");
  g_auto (Outcome) shown = lig ("runs", "show", "counted", "--histograms", NULL);
  g_assert_cmpint (shown.code, ==, 0);
  assert_contains (shown.out, "\nWeights and gradients after step 20\n  parameter");
  static const char *const lines[] = {"0.weight   weights ", "0.weight   gradient", "0.bias ",
                                      "2.weight   weights ", "2.bias     gradient"};
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    assert_contains (shown.out, lines[i]);
  g_assert_true (g_regex_match_simple ("zeros  2\\^-\\d+ … 2\\^-?\\d+ *\n", shown.out, 0, 0));
  g_assert_true (g_regex_match_simple ("  2.bias +weights .* 0 % +█ *\n", shown.out, 0, 0));
  /* The command is not offered again. */
  g_assert_null (strstr (shown.out, " --histograms\n"));
}

static void
test_json (void)
{
  g_auto (Outcome) trained = train ("--name every --histograms 8");
  g_auto (Outcome) shown = lig ("runs", "show", "every", "--histograms", "--json", NULL);
  g_assert_cmpint (length_at (shown.json, "histograms"), ==, 8);
  g_assert_cmpstr (text_at (shown.json, "histograms.1.parameter"), ==, "0.weight");
  g_assert_true (json_node_get_boolean (at (shown.json, "histograms.1.gradient")));
  g_assert_cmpint (int_at (shown.json, "histograms.1.elements"), ==, 16);
  g_assert_cmpint (length_at (shown.json, "histograms.1.steps"), ==, 3);
  g_assert_cmpint (int_at (shown.json, "histograms.1.steps.0"), ==, 8);
  g_assert_cmpint (int_at (shown.json, "histograms.1.steps.2"), ==, 20);
  guint bins = length_at (shown.json, "histograms.1.exponents");
  gint64 sum = int_at (shown.json, "histograms.1.zeros.2");
  for (guint i = 0; i < bins; i++) {
    g_autofree char *positive = g_strdup_printf ("histograms.1.positive.2.%u", i);
    g_autofree char *negative = g_strdup_printf ("histograms.1.negative.2.%u", i);
    sum += int_at (shown.json, positive) + int_at (shown.json, negative);
  }
  g_assert_cmpint (sum, ==, 16);
  g_auto (Outcome) without = lig ("runs", "show", "every", "--json", NULL);
  g_assert_false (json_object_has_member (json_node_get_object (without.json), "histograms"));
  g_assert_cmpint (int_at (without.json, "settings.histograms"), ==, 8);
}

/* Reports contain a map for each tensor, or a table. */
static void
test_report (void)
{
  g_auto (Outcome) trained = train ("--name reported --histograms 1");
  g_auto (Outcome) page = lig ("report", "reported", "-o", "-", "--format", "html", NULL);
  assert_contains (page.out, "<h2>Weights and gradients</h2>");
  guint maps = 0;
  for (const char *at = page.out; (at = strstr (at, "aria-label=\"Histograms of ")); at++)
    maps++;
  g_assert_cmpuint (maps, ==, 8);
  assert_contains (page.out, ">0.weight · gradient<");
  assert_contains (page.out, "<title>step 20: mean ");
  g_auto (Outcome) text = lig ("report", "reported", "-o", "-", "--format", "md", NULL);
  assert_contains (text.out, "\n## Weights and gradients\n\nTheir values after step 20:\n");
  g_assert_true (g_regex_match_simple ("\n\\| 0.weight \\| gradient \\| -", text.out, 0, 0));
  g_auto (Outcome) json = lig ("report", "reported", "-o", "-", "--format", "json", NULL);
  g_assert_cmpint (length_at (json.json, "histograms"), ==, 8);
  g_assert_cmpint (length_at (json.json, "histograms.0.steps"), ==, 20);
}

/* The losses of a run are the same with histograms of each step. */
static void
test_same (void)
{
  g_auto (Outcome) with = train ("--histograms 1 --metrics a.jsonl");
  g_auto (Outcome) without = train ("--metrics b.jsonl");
  g_auto (Outcome) same =
    shell ("sed 's/,\"samples_per_second.*//' a.jsonl > a;"
           " sed 's/,\"samples_per_second.*//' b.jsonl > b; cmp a b && wc -l < a");
  g_assert_cmpint (same.code, ==, 0);
  g_assert_cmpint (g_ascii_strtoll (same.out, NULL, 10), >=, 20);
}

static void
test_none (void)
{
  static const char *const lines[] = {"", "--histograms 0"};
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_auto (Outcome) trained = train (lines[i]);
    g_auto (Outcome) shown = lig ("runs", "show", "last", "--histograms", NULL);
    g_assert_cmpint (shown.code, ==, 0);
    g_assert_null (strstr (shown.out, "Weights and gradients"));
    assert_contains (shown.err, "has no histograms; lig train --histograms N records them");
    g_auto (Outcome) json = lig ("runs", "show", "last", "--histograms", "--json", NULL);
    g_assert_cmpint (length_at (json.json, "histograms"), ==, 0);
    g_auto (Outcome) page = lig ("report", "last", "-o", "-", "--format", "html", NULL);
    g_assert_null (strstr (page.out, "Weights and gradients"));
  }
  /* Every ten to the fifteenth step: the last one. */
  g_auto (Outcome) huge = train ("--histograms 1000000000000000");
  g_auto (Outcome) last = lig ("runs", "show", "last", "--histograms", "--json", NULL);
  g_assert_cmpint (length_at (last.json, "histograms.0.steps"), ==, 1);
}

static void
test_rejected (void)
{
  static const char *const wrong[] = {"-1", "0.5", "x", "99999999999999999999", "''"};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *line = g_strdup_printf (TRAIN " --histograms=%s", wrong[i]);
    g_auto (Outcome) outcome = shell (line);
    g_assert_cmpint (outcome.code, ==, 2);
    assert_contains (outcome.err, "--histograms is ");
    assert_contains (outcome.err, wrong[i][0] == '\'' ? "expected N"
                                                      : "expected a whole number from 0 to 1e+15");
  }
  g_auto (Outcome) list = lig ("runs", "list", "--histograms", NULL);
  g_assert_cmpint (list.code, ==, 2);
  assert_contains (list.err, "lig runs list has no option --histograms");
}

/* A resumed run keeps its histograms, and may have another interval. */
static void
test_resume (void)
{
  g_auto (Outcome) trained = train ("--name resumed --histograms 10");
  g_auto (Outcome) more =
    shell ("lig train --resume resumed --steps 30 --histograms 4 --device cpu --json");
  g_assert_cmpint (more.code, ==, 0);
  g_auto (Outcome) shown = lig ("runs", "show", "resumed", "--histograms", "--json", NULL);
  static const gint64 steps[] = {10, 20, 24, 28, 30};
  g_assert_cmpint (length_at (shown.json, "histograms.0.steps"), ==, G_N_ELEMENTS (steps));
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autofree char *place = g_strdup_printf ("histograms.0.steps.%u", i);
    g_assert_cmpint (int_at (shown.json, place), ==, steps[i]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-histograms/show", test_show);
  g_test_add_func ("/cli-histograms/json", test_json);
  g_test_add_func ("/cli-histograms/report", test_report);
  g_test_add_func ("/cli-histograms/same", test_same);
  g_test_add_func ("/cli-histograms/none", test_none);
  g_test_add_func ("/cli-histograms/rejected", test_rejected);
  g_test_add_func ("/cli-histograms/resume", test_resume);
  return run_cli_tests ();
}
