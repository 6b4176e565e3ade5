/* SPDX-License-Identifier: MIT */
/* Tests `lig fuse --device A,B`: the plans for several devices next to each other. */
#include "tests/cli/case.h"

#define BLOCKS "block(12) { layer-norm ! linear(3072) ! gelu ! linear(768) }"
#define PAIR "null:a100,null:h100"

static char *
example (const char *name)
{
  return g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", name, NULL);
}

static Outcome
fuse_at (const char *columns, const char *sequence, const char *devices, const char *policy)
{
  g_setenv ("COLUMNS", columns, TRUE);
  Outcome outcome =
    lig ("fuse", sequence, "--input", "2048x768", "--policy", policy, "--device", devices, NULL);
  g_unsetenv ("COLUMNS");
  g_assert_cmpint (outcome.code, ==, 0);
  return outcome;
}

/* Returns the number of lines that contain the part, and the length of the longest line. */
static guint
count_lines (const char *text, const char *part, glong *longest)
{
  guint count = 0;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  *longest = 0;
  for (char **line = lines; *line; line++) {
    *longest = MAX (*longest, g_utf8_strlen (*line, -1));
    count += strstr (*line, part) != NULL;
  }
  return count;
}

static void
test_beside (void)
{
  g_autofree char *file = example ("residual-mlp.lig");
  g_auto (Outcome) found = lig ("fuse", file, "--device", "null:a100,null:h200", NULL);
  g_assert_cmpint (found.code, ==, 0);
  g_assert_true (g_str_has_prefix (found.out, "null:h200 compared with null:a100: × "));
  assert_contains (found.out, ", faster.\n");
  assert_contains (found.out, "Both choose the same groups.");
  assert_contains (found.out, "A null:a100");
  assert_contains (found.out, "B null:h200");
  g_assert_true (g_regex_match_simple ("┌ linear-bias-add +┌ linear-bias-add\n", found.out, 0, 0));
  assert_contains (found.out, "memory");
  assert_contains (found.out, "compute");
  /* In reverse order, the first device is the faster one. */
  g_auto (Outcome) turned = lig ("fuse", file, "--device", "null:h200,null:a100", NULL);
  g_assert_true (g_str_has_prefix (turned.out, "null:a100 compared with null:h200: × "));
  assert_contains (turned.out, ", slower.\n");
}

/* No number is cut if a device is much slower. */
static void
test_slow (void)
{
  static const char slow[] = "{\"name\": \"slow\", \"copy\": 2e9, \"launch\": 1e-6, "
                             "\"matmul\": {\"fp32\": 5e10}}";
  g_autofree char *path = g_build_filename (folder, "slow.json", NULL);
  g_assert_true (g_file_set_contents (path, slow, -1, NULL));
  g_auto (Outcome) found =
    fuse_at ("80", "layer-norm ! linear(768)", "null:h200,null:slow.json", "all");
  g_assert_true (g_regex_match_simple (" × [0-9]{3}\n", found.out, 0, 0));
  g_assert_null (strstr (found.out, "…\n"));
  g_auto (Outcome) turned =
    fuse_at ("80", "layer-norm ! linear(768)", "null:slow.json,null:h200", "all");
  assert_contains (turned.out, " × <0.01\n");
  assert_contains (turned.out, " × <0.01, faster\n");
  g_assert_null (strstr (turned.out, "0.0…"));
}

static void
test_widths (void)
{
  static const char *const widths[] = {"40", "60", "79", "80", "100", "200", "500"};
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    glong longest;
    g_auto (Outcome) found = fuse_at (widths[i], BLOCKS, PAIR, "all");
    g_assert_cmpuint (count_lines (found.out, "× 12", &longest), >, 0);
    g_assert_cmpint (longest, <=, CLAMP (atoi (widths[i]), 60, 200));
    /* Twelve equal repetitions are one. */
    g_assert_cmpuint (count_lines (found.out, "layer-norm × 12", &longest), ==, 2);
    g_assert_cmpuint (count_lines (found.out, "0.1.", &longest), ==, 0);
    gboolean rails = strstr (found.out, "┌ linear-bias-activation") != NULL;
    g_assert_true (rails == (atoi (widths[i]) >= 80));
  }
}

static void
test_differences (void)
{
  glong longest;
  g_autofree char *file = example ("byte-model.lig");
  for (guint narrow = 0; narrow < 2; narrow++) {
    g_setenv ("COLUMNS", narrow ? "60" : "100", TRUE);
    g_auto (Outcome) found =
      lig ("fuse", file, "--policy", "measured", "--device", "null,null:h200", NULL);
    g_unsetenv ("COLUMNS");
    g_assert_cmpint (found.code, ==, 0);
    assert_contains (found.out, "The groups differ at ");
    assert_contains (found.out, "The times of null are unknown.");
    g_assert_cmpuint (count_lines (found.out, "≠ ", &longest), >, 0);
    g_assert_cmpint (longest, <=, narrow ? 60 : 100);
    assert_contains (found.out, "\nOnly null rejects:\n");
    assert_contains (found.out, "\nRejected by both, for different reasons:\n");
    assert_contains (found.out, narrow ? "B 3 linear-bias-activation" : "┌ linear-bias-activation");
  }
}

/* A fusion that both reject at a place is under one heading, with the reasons of both. */
static void
test_reasons (void)
{
  g_autofree char *file = example ("residual-mlp.lig");
  g_auto (Outcome) found = lig ("fuse", file, "--device", "null:h200,cpu", NULL);
  g_assert_cmpint (found.code, ==, 0);
  const char *both = strstr (found.out, "\nRejected by both, for different reasons:\n");
  g_assert_nonnull (both);
  g_assert_true (
    g_regex_match_simple ("\n  2      backward-linear-bias\n         A \\S.*(\n {11}\\S.*)*"
                          "\n         B \\S",
                          both, 0, 0));
  g_assert_null (strstr (both, "Only "));
  g_autofree char *before = g_strndup (found.out, (gsize) (both - found.out));
  g_assert_null (strstr (before, "  2      backward-linear-bias:"));
  g_auto (Outcome) json = lig ("fuse", file, "--device", "null:h200,cpu", "--json", NULL);
  g_assert_cmpuint (length_at (json.json, "before.rejected_otherwise"), >, 0);
  g_assert_cmpuint (length_at (json.json, "before.rejected_otherwise"), ==,
                    length_at (json.json, "after.rejected_otherwise"));
}

static void
test_json (void)
{
  g_auto (Outcome) found =
    lig ("fuse", BLOCKS, "--input", "64x768", "--device", PAIR, "--json", NULL);
  g_assert_cmpint (found.code, ==, 0);
  assert_keys (found.json, "before after total totals inputs rows forward backward");
  g_assert_cmpstr (text_at (found.json, "before.device"), ==, "null:a100");
  g_assert_cmpstr (text_at (found.json, "after.title"), ==, "null:h100");
  g_assert_cmpint (int_at (found.json, "before.device_memory_bytes"), >, 1000000000);
  g_assert_cmpint (int_at (found.json, "after.memory_bytes"), >, 1000000);
  double before = json_node_get_double (at (found.json, "total.before.microseconds"));
  double after = json_node_get_double (at (found.json, "total.after.microseconds"));
  g_assert_cmpfloat_with_epsilon (json_node_get_double (at (found.json, "total.speed")),
                                  before / after, 1e-9);
  double parts = json_node_get_double (at (found.json, "totals.forward.after.microseconds")) +
                 json_node_get_double (at (found.json, "totals.backward.after.microseconds"));
  g_assert_cmpfloat_with_epsilon (after, parts, 1e-6 * after);
  assert_keys (at (found.json, "forward.0"), "same measured like speed before after");
  g_assert_nonnull (text_at (found.json, "forward.0.before.bound"));
  /* The first group of the second repetition is like that of the first. */
  guint each = length_at (found.json, "backward") / 12;
  g_autofree char *place = g_strdup_printf ("backward.%u.like", each);
  g_assert_cmpint (int_at (found.json, place), ==, 0);
}

static void
test_many (void)
{
  const char *three = "null:a100,null:h100,null:h200";
  g_auto (Outcome) text = fuse_at ("80", BLOCKS, three, "all");
  g_auto (Outcome) json =
    lig ("fuse", BLOCKS, "--input", "64x768", "--device", three, "--json", NULL);
  assert_contains (text.out, "null:a100               null:h100               null:h200\n");
  assert_contains (text.out, "\nratio ");
  assert_contains (text.out, ", faster.\n");
  g_assert_true (g_str_has_prefix (text.out, "null:h"));
  assert_contains (text.out, " is the fastest; compared with null:a100: × ");
  g_assert_cmpuint (length_at (json.json, "plans"), ==, 3);
  g_assert_cmpstr (text_at (json.json, "plans.2.device"), ==, "null:h200");
  g_assert_cmpfloat (json_node_get_double (at (json.json, "plans.0.speed")), ==, 1);
  g_assert_cmpfloat (json_node_get_double (at (json.json, "plans.2.speed")), >, 1.5);
  g_assert_nonnull (text_at (json.json, "plans.1.backward.bound"));
  /* At 60 columns the third device is below the others. */
  glong longest;
  g_auto (Outcome) narrow = fuse_at ("60", BLOCKS, three, "all");
  g_assert_cmpuint (count_lines (narrow.out, "backward", &longest), ==, 2);
  g_assert_cmpint (longest, <=, 60);
}

static void
test_report (void)
{
  static const char *const formats[] = {"html", "md", "csv", "svg", "json"};
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_auto (Outcome) found = lig ("report", BLOCKS, "--input", "64x768", "--device", PAIR, "-o",
                                  "-", "--format", formats[i], NULL);
    g_assert_cmpint (found.code, ==, 0);
    assert_contains (found.out, g_str_equal (formats[i], "csv") ? "forward" : "null:h100");
  }
  g_auto (Outcome) three = lig ("report", "gelu", "--input", "4x4", "--device",
                                "null:a100,null:h100,null:h200", "-o", "x.html", "--json", NULL);
  assert_failed (&three, 2, "usage", "a report compares two devices");
  g_auto (Outcome) trace = lig ("report", "gelu", "--input", "4x4", "--device", PAIR, "-o",
                                "x.trace.json", "--json", NULL);
  assert_failed (&trace, 1, "format", "trace.json");
}

static void
test_rejected (void)
{
  static const struct {
    const char *command, *devices, *option, *part;
    int code;
  } wrong[] = {
    {"fuse", "null:a100,null:a100", NULL, "lists null:a100 twice", 2},
    {"fuse", "null:a100,", NULL, "empty name", 2},
    {"fuse", PAIR, "--all", "--all is about one plan", 2},
    {"fuse", PAIR, "--why=0", "--why is about one plan", 2},
    {"fuse", "cpu,null:b100", NULL, "b100", 2},
    {"plan", PAIR, NULL, "lig fuse --device null:a100,null:h100", 2},
    {"check", PAIR, NULL, "lig fuse --device", 2},
    {"profile", PAIR, NULL, "lig fuse --device", 2},
    {"train", PAIR, "--data=synthetic", "lig fuse --device", 2},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_auto (Outcome) found = lig (wrong[i].command, "gelu", "--input", "4x4", "--json", "--device",
                                  wrong[i].devices, wrong[i].option, NULL);
    assert_failed (&found, wrong[i].code, wrong[i].code == 2 ? "usage" : "device", wrong[i].part);
  }
  g_auto (Outcome) devices = lig ("devices", "cpu,null", "--json", NULL);
  assert_failed (&devices, 2, "usage", "lists several devices");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("COLUMNS");
  g_test_add_func ("/pair/beside", test_beside);
  g_test_add_func ("/pair/slow", test_slow);
  g_test_add_func ("/pair/widths", test_widths);
  g_test_add_func ("/pair/differences", test_differences);
  g_test_add_func ("/pair/reasons", test_reasons);
  g_test_add_func ("/pair/json", test_json);
  g_test_add_func ("/pair/many", test_many);
  g_test_add_func ("/pair/report", test_report);
  g_test_add_func ("/pair/rejected", test_rejected);
  return run_cli_tests ();
}
