/* SPDX-License-Identifier: MIT */
/* `lig runs` in scripts whose variables are empty, zero or too short. */
#include "tests/cli/runs-store.h"

static guint
count_runs (void)
{
  g_auto (Outcome) outcome = lig ("runs", "list", "--json", NULL);
  return json_array_get_length (json_node_get_array (outcome.json));
}

/* A limit of zero does not mean no limit, which would delete all runs. */
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

/* An empty word is a name that no run has, not an empty selection. */
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

/* The message is about a missing name, because few users mean the beginning of a uuid. */
static void
test_short (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "show", "d3", "--json", NULL);
  assert_failed (&outcome, 1, "store",
                 "has no run called 'd3'; a uuid needs at least 4 characters");
}

/* A name may begin with a dash. */
static void
test_dashes (void)
{
  g_auto (Outcome) trained =
    lig ("train", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--name=-q", "--store", "dash.db", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) shown = lig ("runs", "show", "--store", "dash.db", "--json", "--", "-q", NULL);
  g_assert_cmpint (shown.code, ==, 0);
  g_assert_cmpstr (text_at (shown.json, "name"), ==, "-q");
}

/* The end of a run whose process was killed is near its last metrics. */
static void
test_killed (void)
{
  g_auto (Outcome) killed =
    shell ("timeout -s KILL 2 lig train 'linear(256) ! mean-squared-error' --input 512x256 --data"
           " synthetic --steps 100000000 --device cpu --store k.db -q");
  g_assert_cmpint (killed.code, !=, 0);
  g_auto (Outcome) metrics = shell ("lig runs export last --store k.db --metric step-ms -o - |"
                                    " awk -F, '{ms += $2} END {print int (ms)}'");
  g_auto (Outcome) shown = lig ("runs", "show", "last", "--store", "k.db", "--json", NULL);
  g_assert_cmpstr (text_at (shown.json, "status"), ==, "interrupted");
  g_autoptr (GDateTime) started =
    g_date_time_new_from_iso8601 (text_at (shown.json, "started"), NULL);
  g_autoptr (GDateTime) ended = g_date_time_new_from_iso8601 (text_at (shown.json, "ended"), NULL);
  g_assert_nonnull (started);
  g_assert_nonnull (ended);
  g_assert_cmpint (g_date_time_difference (ended, started) / G_TIME_SPAN_MILLISECOND, >=,
                   g_ascii_strtoll (metrics.out, NULL, 10) / 2);
  g_assert_cmpint (g_ascii_strtoll (metrics.out, NULL, 10), >, 10);
}

/* Words that contradict a checkpoint or select another run are wrong command lines. */
static void
test_settings (void)
{
  static const char start[] = "lig train 'linear(2) ! mean-squared-error' --input 16x8 --data"
                              " synthetic --device cpu --store s.db --json";
  g_autofree char *last = g_strconcat (start, " --name last", NULL);
  g_auto (Outcome) named = shell (last);
  assert_failed (&named, 2, "usage", "--name is 'last', which selects the newest run");
  g_autofree char *first = g_strconcat (start, " --steps 3 --name first", NULL);
  g_auto (Outcome) trained = shell (first);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) renamed = lig ("train", "--resume", "first", "--name", "second", "--steps", "9",
                                  "--store", "s.db", "--json", NULL);
  g_assert_cmpint (renamed.code, ==, 0);
  assert_contains (renamed.err,
                   "settings that differ from the checkpoint's: name second (was first)");
  g_auto (Outcome) second = lig ("runs", "show", "second", "--store", "s.db", "--json", NULL);
  g_assert_cmpstr (text_at (second.json, "run"), ==, text_at (renamed.json, "run"));
  g_assert_cmpstr (text_at (second.json, "parent"), ==, text_at (trained.json, "run"));
  g_auto (Outcome) seeded = lig ("train", "--resume", "first", "--seed", "7", "--steps", "9",
                                 "--store", "s.db", "--json", NULL);
  assert_failed (&seeded, 2, "usage", "seed 7 does not match the checkpoint, which has 0; omit it");
}

/* A range that is empty or too long is reported as such. */
static void
test_ranges (void)
{
  static const char *const ranges[] = {"5..1", "1..1000000", "-9223372036854775808..0"};
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++) {
    g_autofree char *over = g_strconcat ("seed=", ranges[i], NULL);
    g_autofree char *text = g_strdup_printf ("range '%s' is empty or too long; ", ranges[i]);
    g_auto (Outcome) outcome =
      lig ("sweep", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
           "--device", "cpu", "--store", "r.db", "--over", over, "--json", NULL);
    assert_failed (&outcome, 2, "usage", text);
  }
}

/* A long answer is one answer: its end does not answer the question about checkpoints. */
static void
test_long_answer (void)
{
  g_auto (Outcome) trained =
    lig ("train", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--name", "long", "--store", "l.db", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) outcome = shell ("printf 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\\n' |"
                                    " script -qec 'lig runs delete long --store l.db' /dev/null");
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "kept checkpoint ");
}

/* A profile is never continued, and a pipe without a reader does not cause a silent hang. */
static void
test_waiting (void)
{
  g_auto (Outcome) profiled = lig ("profile", "linear(2) ! gelu", "--input", "16x8", "--device",
                                   "cpu", "--steps", "5", "--store", "w.db", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  g_auto (Outcome) resumed =
    shell ("lig train --resume $(lig runs list --store w.db --columns run | tail -n 1) --store w.db"
           " --json");
  assert_failed (&resumed, 1, "file", "is a profile and has no checkpoint; give a training run");
  g_auto (Outcome) waiting = shell (
    "mkfifo pipe; (sleep 1; cat pipe) | wc -l & lig train 'linear(2) ! mean-squared-error'"
    " --input 16x8 --data synthetic --steps 3 --device cpu --store w.db --metrics pipe; wait");
  assert_contains (waiting.err, "--metrics: waiting for a reader of the pipe 'pipe'");
  assert_contains (waiting.out, "4\n");
}

/* A misspelt name is neither a run nor a file nor an op, and the message says so. */
static void
test_report (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("report", "largo", "-o", "x.md", "--json", NULL);
  assert_failed (&outcome, 1, "op", "no run, file or op is called 'largo'");
  g_auto (Outcome) weights = lig ("export-weights", "largo", "-o", "x.safetensors", "--json", NULL);
  assert_failed (&weights, 1, "op", "no run, file or op is called 'largo'");
  g_auto (Outcome) verified = lig ("verify", "largo", "--json", NULL);
  assert_failed (&verified, 1, "op", "no run, file or op is called 'largo'");
}

/* A run that cannot be exported is not a missing name. */
static void
test_export (void)
{
  make_store ();
  g_auto (Outcome) trained =
    lig ("train", "mixture-of-experts(2, top-k=1, expert-features=4) ! mean-squared-error",
         "--input", "4x4", "--data", "synthetic", "--steps", "1", "--device", "cpu", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) outcome = lig ("export", "last", "-o", "x.onnx", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 1);
  g_assert_null (strstr (outcome.out, "no run, file or op"));
  assert_contains (outcome.out, "ONNX");
}

/* A store that became empty has no runs; with options, it has no matching ones. */
static void
test_none (void)
{
  make_store ();
  g_auto (Outcome) gone = lig ("runs", "delete", "--all", "--yes", NULL);
  g_assert_cmpint (gone.code, ==, 0);
  g_auto (Outcome) none = lig ("runs", "list", NULL);
  assert_contains (none.err, "lig: no runs in ");
  g_auto (Outcome) starred = lig ("runs", "list", "--starred", NULL);
  assert_contains (starred.err, "lig: no matching runs in ");
}

/* A very long name is printed to a pipe without making the lines of other runs as long. */
static void
test_long_name (void)
{
  static const char start[] = "lig train 'linear(2) ! mean-squared-error' --input 16x8 --data"
                              " synthetic --steps 3 --device cpu --store long.db -q --name ";
  g_autofree char *name = g_strnfill (3000, 'n');
  g_autofree char *first = g_strconcat (start, name, NULL);
  g_autofree char *second = g_strconcat (start, "short", NULL);
  g_auto (Outcome) one = shell (first);
  g_auto (Outcome) two = shell (second);
  g_auto (Outcome) list = shell ("lig runs list --store long.db");
  g_auto (GStrv) lines = g_strsplit (list.out, "\n", -1);
  assert_contains (lines[1], "short ");
  g_assert_cmpuint (strlen (lines[1]), <, 400);
  assert_contains (lines[2], name);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-scripts/limit", test_limit);
  g_test_add_func ("/cli-runs-scripts/empty", test_empty);
  g_test_add_func ("/cli-runs-scripts/short", test_short);
  g_test_add_func ("/cli-runs-scripts/dashes", test_dashes);
  g_test_add_func ("/cli-runs-scripts/killed", test_killed);
  g_test_add_func ("/cli-runs-scripts/settings", test_settings);
  g_test_add_func ("/cli-runs-scripts/ranges", test_ranges);
  g_test_add_func ("/cli-runs-scripts/long-answer", test_long_answer);
  g_test_add_func ("/cli-runs-scripts/report", test_report);
  g_test_add_func ("/cli-runs-scripts/export", test_export);
  g_test_add_func ("/cli-runs-scripts/waiting", test_waiting);
  g_test_add_func ("/cli-runs-scripts/none", test_none);
  g_test_add_func ("/cli-runs-scripts/long-name", test_long_name);
  return run_store_tests (argc, argv);
}
