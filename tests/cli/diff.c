/* SPDX-License-Identifier: MIT */
/* Tests lig diff, lig fit and lig fuse --savings as users call them. */
#include "tests/cli/case.h"

#define A "linear(64) ! gelu ! linear(8) ! cross-entropy"
#define B "linear(96) ! gelu ! linear(8) ! cross-entropy"
#define COMMON "--input", "256x32:bf16", "--device", "null:h200"

static void
test_sequences (void)
{
  g_auto (Outcome) text = lig ("diff", A, B, COMMON, NULL);
  g_assert_cmpint (text.code, ==, 0);
  g_assert_nonnull (strstr (text.out, "~ 0 linear: out-features 64 → 96"));
  g_auto (Outcome) json = lig ("diff", A, B, COMMON, "--json", NULL);
  g_assert_cmpstr (json_node_get_string (at (json.json, "rows.0.change")), ==, "changed");
  g_assert_cmpfloat (json_node_get_double (at (json.json, "total.before.memory_bytes")), >, 0);
}

/* One sequence with two values of an option is compared with itself. */
static void
test_options (void)
{
  g_auto (Outcome) recompute = lig ("diff", A, COMMON, "--recompute", "none,all", NULL);
  g_assert_cmpint (recompute.code, ==, 0);
  g_assert_nonnull (strstr (recompute.out, "A recompute none"));
  g_auto (Outcome) quantized =
    lig ("diff", A, COMMON, "--dtype", "bf16", "--recipe", "none,fp8-current", "--json", NULL);
  g_assert_cmpint (quantized.code, ==, 0);
  g_assert_cmpuint (json_array_get_length (json_node_get_array (at (quantized.json, "rows"))), ==,
                    0);
  g_auto (Outcome) recipes = lig ("diff", A, COMMON, "--recipe", "fp8-current,fp8-rows", NULL);
  g_assert_cmpint (recipes.code, ==, 0);
  g_assert_nonnull (strstr (recipes.out, "recipe fp8-current → fp8-rows"));
  /* The parameters of one recipe are not a list. */
  g_auto (Outcome) one =
    lig ("diff", A, B, COMMON, "--recipe", "fp8-delayed:history=4,margin=1", NULL);
  g_assert_cmpint (one.code, ==, 0);
  g_auto (Outcome) devices =
    lig ("diff", A, "--input", "256x32", "--device", "null:h200,null:a100", NULL);
  g_assert_cmpint (devices.code, ==, 0);
  g_assert_nonnull (strstr (devices.out, "A null:h200"));
}

static void
test_bad (void)
{
  g_auto (Outcome) alone = lig ("diff", A, COMMON, NULL);
  g_assert_cmpint (alone.code, ==, 2);
  g_auto (Outcome) three = lig ("diff", A, COMMON, "--recompute", "none,all,cheap", NULL);
  g_assert_cmpint (three.code, ==, 2);
  g_auto (Outcome) unknown = lig ("diff", A, COMMON, "--recompute", "none,some", NULL);
  g_assert_cmpint (unknown.code, !=, 0);
  g_assert_nonnull (strstr (unknown.err, "some"));
  g_auto (Outcome) empty = lig ("diff", A, COMMON, "--policy", "none,", NULL);
  g_assert_cmpint (empty.code, ==, 2);
  g_auto (Outcome) broken = lig ("diff", A, "linear(", COMMON, NULL);
  g_assert_cmpint (broken.code, ==, 1);
  g_auto (Outcome) output = lig ("diff", A, B, COMMON, "-o", "-", NULL);
  g_assert_cmpint (output.code, ==, 2);
  g_auto (Outcome) alone_format = lig ("diff", A, B, COMMON, "--format", "csv", NULL);
  g_assert_cmpint (alone_format.code, ==, 2);
  g_auto (Outcome) input = lig ("diff", "-", COMMON, "--recompute", "none,all", NULL);
  g_assert_cmpint (input.code, ==, 2);
  g_auto (Outcome) both = lig ("fuse", A, COMMON, "--savings", "--all", NULL);
  g_assert_cmpint (both.code, ==, 2);
  g_auto (Outcome) format = lig ("diff", A, B, COMMON, "-o", "x.strange", NULL);
  g_assert_cmpint (format.code, !=, 0);
}

static void
test_report (void)
{
  gsize length;
  g_autofree char *path = in_folder ("diff.html"), *html = NULL;
  g_auto (Outcome) written = lig ("diff", A, B, COMMON, "-o", path, NULL);
  g_assert_cmpint (written.code, ==, 0);
  g_assert_true (g_file_get_contents (path, &html, &length, NULL));
  g_assert_nonnull (strstr (html, "out-features 64 → 96"));
}

/* Runs bring their types, policy and recomputation, and their settings are compared. */
static void
test_runs (void)
{
  const char *const rates[] = {"0.01", "0.02"}, *const levels[] = {"none", "all"};
  for (guint i = 0; i < 2; i++) {
    g_autofree char *name = g_strdup_printf ("run%u", i);
    g_auto (Outcome) run = lig ("train", "linear(16) ! gelu ! linear(4) ! cross-entropy", "--input",
                                "8x6", "--data", "synthetic", "--steps", "2", "--device", "cpu",
                                "--lr", rates[i], "--recompute", levels[i], "--name", name, NULL);
    g_assert_cmpint (run.code, ==, 0);
  }
  g_auto (Outcome) text = lig ("diff", "run0", "run1", "--device", "null:h200", NULL);
  g_assert_cmpint (text.code, ==, 0);
  g_assert_nonnull (strstr (text.out, "0.02"));
  g_assert_nonnull (strstr (text.out, "A run0"));
  g_auto (Outcome) mixed = lig ("diff", "run0", "linear(16) ! relu ! linear(4) ! cross-entropy",
                                "--input", "8x6", "--device", "null:h200", NULL);
  g_assert_cmpint (mixed.code, ==, 0);
  g_assert_nonnull (strstr (mixed.out, "+ 1 relu"));
}

/* Profiles bring their plans and measured times, whose totals are compared with the noise. */
static void
test_profiles (void)
{
  static const char *const formats[] = {"html", "md", "svg", "csv", "json"};
  g_auto (Outcome) made = lig ("profile", "linear(16) ! gelu ! linear(4)", "--input", "8x6",
                               "--device", "cpu", "--steps", "6", "--compare", "none,all", NULL);
  g_assert_cmpint (made.code, ==, 0);
  g_auto (Outcome) text = lig ("diff", "last~1", "last", NULL);
  g_assert_cmpint (text.code, ==, 0);
  g_assert_nonnull (strstr (text.out, "last compared with last~1: "));
  g_assert_nonnull (strstr (text.out, "\nquartiles "));
  g_assert_nonnull (strstr (text.out, " of 6 runs"));
  g_assert_nonnull (strstr (text.out, "none, fp32"));
  g_assert_nonnull (strstr (text.out, "≠ 0 basic-linear"));
  g_assert_null (strstr (text.out, "≈"));
  g_auto (Outcome) json = lig ("diff", "last~1", "last", "--json", NULL);
  g_assert_true (json_node_get_boolean (at (json.json, "total.measured")));
  g_assert_cmpfloat (json_node_get_double (at (json.json, "total.noise_us")), >, 0);
  g_assert_true (json_node_get_boolean (at (json.json, "forward.0.measured")));
  g_assert_cmpfloat (json_node_get_double (at (json.json, "totals.update.before.microseconds")), >,
                     0);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gsize length;
    g_autofree char *name = g_strconcat ("profiles.", formats[i], NULL), *path = in_folder (name);
    g_autofree char *contents = NULL;
    g_auto (Outcome) written = lig ("diff", "last~1", "last", "-o", path, NULL);
    g_assert_cmpint (written.code, ==, 0);
    g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
    if (g_str_equal (formats[i], "md"))
      g_assert_nonnull (strstr (contents, "| Step of last | "));
  }
}

/* A profile next to a sequence is compared by predictions; options cannot change a profile. */
static void
test_half_measured (void)
{
  g_auto (Outcome) made =
    lig ("profile", "linear(16) ! gelu", "--input", "8x6", "--device", "cpu", "--steps", "5", NULL);
  g_assert_cmpint (made.code, ==, 0);
  g_auto (Outcome) half =
    lig ("diff", "last", "linear(16) ! relu", "--input", "8x6", "--device", "cpu", NULL);
  g_assert_cmpint (half.code, ==, 0);
  g_assert_nonnull (strstr (half.out, "A step of last was measured: "));
  g_assert_nonnull (strstr (half.out, "+ 1 relu"));
  g_auto (Outcome) json =
    lig ("diff", "last", "linear(16) ! relu", "--input", "8x6", "--device", "cpu", "--json", NULL);
  g_assert_false (json_node_get_boolean (at (json.json, "total.measured")));
  g_auto (Outcome) chosen = lig ("diff", "last", "last", "--policy", "none,all", NULL);
  g_assert_cmpint (chosen.code, ==, 2);
  g_assert_nonnull (strstr (chosen.err, "omit --policy"));
  g_auto (Outcome) missing = lig ("diff", "last", "0000abcd", NULL);
  g_assert_cmpint (missing.code, ==, 1);
}

static void
test_savings (void)
{
  g_auto (Outcome) text = lig ("fuse", A, COMMON, "--savings", NULL);
  g_assert_cmpint (text.code, ==, 0);
  g_assert_nonnull (strstr (text.out, "--input 512x32:bf16"));
  g_auto (Outcome) pair =
    lig ("fuse", A, "--input", "8x8", "--device", "null:h200,cpu", "--savings", NULL);
  g_assert_cmpint (pair.code, ==, 2);
}

static void
test_fit (void)
{
  g_auto (Outcome) text = lig ("fit", A, COMMON, NULL);
  g_assert_cmpint (text.code, ==, 0);
  g_assert_nonnull (strstr (text.out, "largest"));
  g_auto (Outcome) none = lig ("fit", "gelu", "--input", "8", "--device", "null:h200", NULL);
  g_assert_cmpint (none.code, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/diff/sequences", test_sequences);
  g_test_add_func ("/cli/diff/options", test_options);
  g_test_add_func ("/cli/diff/bad", test_bad);
  g_test_add_func ("/cli/diff/report", test_report);
  g_test_add_func ("/cli/diff/runs", test_runs);
  g_test_add_func ("/cli/diff/profiles", test_profiles);
  g_test_add_func ("/cli/diff/half-measured", test_half_measured);
  g_test_add_func ("/cli/diff/savings", test_savings);
  g_test_add_func ("/cli/diff/fit", test_fit);
  return run_cli_tests ();
}
