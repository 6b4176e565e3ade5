/* SPDX-License-Identifier: MIT */
/* `lig profile` as text: every width, repetitions folded, savings, and why a roofline is above
 * 100 %. */
#include "tests/cli/case.h"

#include <ligature/columns.h>
#include <ligature/device.h>
#include <ligature/store-tuning.h>
#include <ligature/store.h>

#define BLOCKS \
  "'block(3){make-extra-output(to=r) ! layer-norm ! linear(32) ! gelu ! linear(16) ! " \
  "add-extra-input(from=r)} ! linear(4)'"
#define PROFILE "lig profile " BLOCKS " --input 16x16 --device cpu --steps 6 "

/* Returns the first line that contains the text. */
static char *
find_line (const char *text, const char *part)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++)
    if (strstr (*line, part))
      return g_strdup (*line);
  g_error ("'%s' does not contain '%s'", text, part);
}

static void
check_widths (const char *text, int max)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line; line++)
    if (lig_columns_width (*line) > max)
      g_error ("'%s' is wider than %d columns", *line, max);
}

static void
test_widths (void)
{
  static const int widths[] = {60, 80, 120, 200};
  for (gsize i = 0; i < G_N_ELEMENTS (widths); i++) {
    g_autofree char *command =
      g_strdup_printf ("COLUMNS=%d " PROFILE "--compare none,all", widths[i]);
    g_auto (Outcome) outcome = shell (command);
    g_assert_cmpint (outcome.code, ==, 0);
    check_widths (outcome.out, widths[i]);
    g_assert_true (g_regex_match_simple (
      "\nall .* 6  (no difference|[0-9.]+ % (less|more) time|[0-9.]+ times)", outcome.out, 0, 0));
    /* The steps come first, then the groups of each policy. */
    g_assert_true (g_str_has_prefix (outcome.out, "policy"));
    g_assert_true (strstr (outcome.out, "quartiles") < strstr (outcome.out, "Policy none, "));
    g_assert_true (strstr (outcome.out, "Policy none, ") < strstr (outcome.out, "Policy all, "));
    g_autofree char *header = find_line (outcome.out, "roofline");
    g_assert_cmpint (strstr (header, "predicted") != NULL, ==, widths[i] >= 80);
    g_assert_cmpint (strstr (header, "kernels") != NULL, ==, widths[i] >= 120);
  }
}

/* Measured steps have tokens or rows per second, and the utilization if the peak rates are known:
 * the profile, its record and the last line of a training run. */
static void
test_use (void)
{
  static const char use[] = "\nuse +[0-9.]+ (k |M |)%s/s(, [0-9]+ %% MFU)?\n";
  g_auto (Outcome) profile = shell (PROFILE "--json");
  double rate = json_node_get_double (at (profile.json, "rows_per_second"));
  double step = json_node_get_double (at (profile.json, "step_us"));
  g_assert_cmpfloat_with_epsilon (rate * step * 1e-6, 16, 1e-6);
  g_assert_false (json_node_get_boolean (at (profile.json, "tokens")));
  g_assert_cmpfloat (json_node_get_double (at (profile.json, "mfu")), >, 0);
  g_auto (Outcome) shown = shell ("lig runs show last");
  g_autofree char *rows = g_strdup_printf (use, "rows");
  g_assert_true (g_regex_match_simple (rows, shown.out, 0, 0));
  g_auto (Outcome) record = shell ("lig runs show last --json");
  g_assert_cmpfloat_with_epsilon (json_node_get_double (at (record.json, "rows_per_second")), rate,
                                  1e-3 * rate);
#define TRAIN \
  "lig train 'embedding(8) ! linear(256) ! cross-entropy' --input 4x16:int32 --data " \
  "text:$LIGATURE_DATA/examples --steps 4 --accumulate 2 --device cpu"
  g_auto (Outcome) trained = shell (TRAIN);
  g_assert_cmpint (trained.code, ==, 0);
  g_assert_true (g_regex_match_simple (" a step, [0-9.]+ (k |M )tokens/s", trained.out, 0, 0));
  g_autofree char *tokens = g_strdup_printf (use, "tokens");
  g_auto (Outcome) text = shell ("lig runs show last");
  g_assert_true (g_regex_match_simple (tokens, text.out, 0, 0));
  /* Two micro-batches of 64 tokens a step. */
  g_auto (Outcome) run = shell (TRAIN " --json");
  g_assert_true (json_node_get_boolean (at (run.json, "tokens")));
  g_assert_cmpfloat_with_epsilon (json_node_get_double (at (run.json, "rows_per_second")) *
                                    json_node_get_double (at (run.json, "step_ms.median")) * 1e-3,
                                  128, 1e-6);
#undef TRAIN
}

/* Equal groups of the three repetitions are one row. */
static void
test_folded (void)
{
  g_auto (Outcome) outcome = shell ("COLUMNS=160 " PROFILE "--policy none");
  g_assert_cmpint (outcome.code, ==, 0);
  g_autofree char *norm = find_line (outcome.out, "layer-norm");
  g_assert_true (g_regex_match_simple ("^forward +0\\.\\*\\.1 layer-norm × 3 ", norm, 0, 0));
  g_autofree char *last = find_line (outcome.out, " 1 basic-linear ");
  g_assert_null (strstr (last, "×"));
  g_assert_null (strstr (strstr (outcome.out, "layer-norm × 3") + 1, "forward   0.*.1 layer-norm"));
  /* The sum of a folded row is that of its groups. */
  g_auto (Outcome) json = shell (PROFILE "--policy none --json");
  g_assert_cmpuint (length_at (json.json, "groups"), >, 12);
}

/* The unfused ops are the baseline: measured if they are compared, predicted otherwise. */
static void
test_savings (void)
{
  g_auto (Outcome) compared = shell ("COLUMNS=160 " PROFILE "--compare none,all");
  g_autofree char *measured = find_line (strstr (compared.out, "Policy all, "), " + gelu");
  g_assert_true (
    g_regex_match_simple ("(\\d+|-) % +−?[0-9.]+ (ns|µs|ms) +linear_bias_gelu", measured, 0, 0));
  g_auto (Outcome) one = shell ("COLUMNS=120 " PROFILE "--policy all");
  g_autofree char *predicted = find_line (one.out, " + gelu");
  assert_contains (predicted, "≈ ");
}

/* Peak rates that are too low make every group faster than the roofline. */
static void
test_roofline (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (device);
  g_auto (Outcome) usual = shell (PROFILE);
  g_assert_cmpint (usual.code, ==, 0);
  facts.copy = 1e6; /* the lowest that a description may have */
  facts.launch = 1;
  for (int i = 0; i < LIG_MAX_DTYPES; i++)
    facts.matmul[i] = 1e6;
  g_autofree char *json = lig_device_facts_to_json (&facts);
  g_autofree char *path = in_folder ("low.db");
  g_autoptr (LigStore) store = lig_store_open (path, &error);
  g_assert_no_error (error);
  lig_store_put_device (store, "cpu", json, &error);
  g_assert_no_error (error);
  g_clear_object (&store);
  g_auto (Outcome) outcome = shell (PROFILE "--store low.db");
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "A roofline above 100 %: the peak rates of cpu were measured");
  assert_contains (outcome.out, "\n  lig devices --measure\n");
  facts.copy = 1e13;
  facts.launch = 1e-9;
  for (int i = 0; i < LIG_MAX_DTYPES; i++)
    facts.matmul[i] = 1e15;
  g_autofree char *high = lig_device_facts_to_json (&facts);
  store = lig_store_open (path, &error);
  lig_store_put_device (store, "cpu", high, &error);
  g_assert_no_error (error);
  g_clear_object (&store);
  g_auto (Outcome) below = shell (PROFILE "--store low.db");
  g_assert_null (strstr (below.out, "above 100 %"));
}

static void
test_quiet (void)
{
  g_auto (Outcome) outcome = shell (PROFILE "-q");
  g_assert_cmpint (outcome.code, ==, 0);
  g_assert_cmpstr (outcome.err, ==, "");
  assert_contains (outcome.out, "quartiles");
  g_auto (Outcome) wrong = shell (PROFILE "--compare none,gleu --json");
  assert_failed (&wrong, 2, "usage", "gleu");
}

/* Without a terminal, a long measurement reports its progress now and then. */
static void
test_logged (void)
{
  for (int steps = 6; steps < 100000; steps *= 4) {
    g_autofree char *command =
      g_strdup_printf ("lig profile 'linear(1024) ! gelu ! linear(1024)' --input 1024x1024 "
                       "--device cpu --steps %d",
                       steps);
    gint64 began = g_get_monotonic_time ();
    g_auto (Outcome) outcome = shell (command);
    g_assert_cmpint (outcome.code, ==, 0);
    g_assert_null (strchr (outcome.err, '\r'));
    if (!strstr (outcome.err, "profiling") &&
        g_get_monotonic_time () - began < 3 * G_USEC_PER_SEC / 2)
      continue;
    g_autofree char *line = find_line (outcome.err, "profiling");
    g_assert_true (g_regex_match_simple ("^lig: profiling · step \\d+/\\d+ · \\d", line, 0, 0));
    return;
  }
  g_assert_not_reached ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/profile/widths", test_widths);
  g_test_add_func ("/cli/profile/use", test_use);
  g_test_add_func ("/cli/profile/folded", test_folded);
  g_test_add_func ("/cli/profile/savings", test_savings);
  g_test_add_func ("/cli/profile/roofline", test_roofline);
  g_test_add_func ("/cli/profile/quiet", test_quiet);
  g_test_add_func ("/cli/profile/logged", test_logged);
  return run_cli_tests ();
}
