/* SPDX-License-Identifier: MIT */
/* `lig sweep`: its table and document, its list, and continuing after an interruption. */
#include "tests/cli/case.h"

#include <signal.h>

#define MODEL "linear(8, init-std=0.3) ! gelu ! linear(2, init-std=0.3) ! mean-squared-error"
#define TRAINING MODEL, "--input", "8x4", "--data", "synthetic", "--device", "cpu"

static guint
count (JsonNode *list)
{
  return json_array_get_length (json_node_get_array (list));
}

static void
test_document (void)
{
  g_auto (Outcome) outcome =
    lig ("sweep", TRAINING, "--steps", "20", "--optimizer", "sgd", "--over", "lr=0.0001,0.05",
         "--over", "seed=1..2", "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_assert_cmpstr (text_at (outcome.json, "status"), ==, "done");
  g_assert_cmpuint (length_at (outcome.json, "runs"), ==, 4);
  g_assert_cmpint (int_at (outcome.json, "runs.3.settings.seed"), ==, 2);
  g_assert_cmpint (int_at (outcome.json, "runs.3.steps"), ==, 20);
  g_assert_cmpstr (text_at (outcome.json, "runs.3.status"), ==, "done");
  g_assert_cmpuint (length_at (outcome.json, "groups"), ==, 2);
  g_assert_cmpfloat (json_node_get_double (at (outcome.json, "groups.0.settings.lr")), ==, 0.05);
  g_assert_cmpfloat (json_node_get_double (at (outcome.json, "best.lr")), ==, 0.05);
  g_assert_cmpint (int_at (outcome.json, "groups.0.results"), ==, 2);
  assert_contains (outcome.err, "4 of 4: lr 0.05, seed 2: validation loss");
  /* The runs of the store belong to the sweep, and can be listed by it. */
  const char *sweep = text_at (outcome.json, "sweep");
  g_auto (Outcome) runs = lig ("runs", "list", "--sweep", sweep, "--json", NULL);
  g_assert_cmpuint (count (runs.json), ==, 4);
  g_assert_cmpstr (text_at (runs.json, "0.sweep"), ==, sweep);
  g_assert_cmpint (int_at (runs.json, "0.point"), ==, 3);
  g_auto (Outcome) table = lig ("runs", "list", "--sweep", "last", NULL);
  assert_contains (table.out, "sweep");
}

/* Every format that shows a sweep has each of its runs. */
static void
test_report (void)
{
  static const char *const formats[] = {"html", "md", "csv", "json"};
  g_auto (Outcome) outcome = lig ("sweep", TRAINING, "--steps", "5", "--over", "lr=0.01,0.02",
                                  "--over", "seed=1..2", "--json", NULL);
  g_autofree char *sweep = g_strndup (text_at (outcome.json, "sweep"), 8);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *name = g_strconcat ("sweep.", formats[i], NULL);
    g_autofree char *path = in_folder (name), *text = NULL;
    g_auto (Outcome) report = lig ("report", sweep, "-o", name, NULL);
    g_assert_cmpint (report.code, ==, 0);
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    for (guint j = 0; j < 4; j++) {
      g_autofree char *place = g_strdup_printf ("runs.%u.run", j);
      assert_contains (text, text_at (outcome.json, place));
    }
  }
  g_auto (Outcome) picture = lig ("report", sweep, "-o", "sweep.svg", NULL);
  g_assert_cmpint (picture.code, ==, 0);
  g_auto (Outcome) trace = lig ("report", sweep, "-o", "sweep.trace.json", "--json", NULL);
  assert_failed (&trace, 1, "format", "a sweep has no report in this format");
  g_auto (Outcome) none = lig ("report", "abcdef12", "-o", "none.md", "--json", NULL);
  assert_failed (&none, 1, "store", "has no run 'abcdef12'");
}

static void
test_table (void)
{
  g_auto (Outcome) outcome = lig ("sweep", TRAINING, "--steps", "20", "--optimizer", "sgd",
                                  "--over", "lr=0.0001,0.05", "--over", "seed=1..2", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_auto (GStrv) lines = g_strsplit (outcome.out, "\n", -1);
  assert_contains (lines[0], "lr");
  assert_contains (lines[0], "validation loss");
  assert_contains (lines[0], "std");
  assert_contains (lines[1], "0.05");
  assert_contains (lines[2], "0.0001");
  g_assert_cmpstr (lines[3], ==, "lowest mean: lr 0.05");
  g_assert_true (g_str_has_prefix (lines[4], "sweep "));
}

static void
test_list (void)
{
  g_autofree char *path = in_folder ("runs.csv");
  g_assert_true (g_file_set_contents (path, "lr,0.out-features\n0.1,4\n0.2,6\n0.3,8\n", -1, NULL));
  g_auto (Outcome) outcome =
    lig ("sweep", TRAINING, "--steps", "2", "--list", path, "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_assert_cmpuint (length_at (outcome.json, "runs"), ==, 3);
  JsonObject *settings = json_node_get_object (at (outcome.json, "runs.2.settings"));
  g_assert_cmpint (json_object_get_int_member (settings, "0.out-features"), ==, 8);
}

static void
test_rejected (void)
{
  static const struct {
    const char *arguments[4], *part;
  } cases[] = {
    {{NULL}, "give --over KEY=A,B,… or --list FILE"},
    {{"--over", "lr=1,2", "--zip"}, "--zip needs at least two"},
    {{"--over", "lr=1,2", "--retry"}, "--retry is only used with --resume"},
    {{"--resume", "last", "--over", "lr=1"}, "cannot be combined with --resume"},
    {{"--over", "lr=1,2", "--checkpoint", "c.safetensors"}, "each run of a sweep has its own"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const char *const *more = cases[i].arguments;
    g_auto (Outcome) outcome =
      lig ("sweep", MODEL, "--json", more[0], more[1], more[2], more[3], NULL);
    assert_failed (&outcome, 2, "usage", cases[i].part);
  }
  g_auto (Outcome) value =
    lig ("sweep", TRAINING, "--steps", "2", "--json", "--over", "lr=0.1,x", NULL);
  assert_failed (&value, 2, "usage", "lr is 'x'");
  g_auto (Outcome) fixed = lig ("sweep", "--resume", "last", "--lr", "3", "--json", NULL);
  assert_failed (&fixed, 2, "usage", "--lr cannot be combined with --resume");
  g_auto (Outcome) none = lig ("sweep", "--resume", "abcdef", "--json", NULL);
  assert_failed (&none, 1, "store", "has no sweep 'abcdef'");
}

/* A sequence that cannot train fails immediately, not once for each point. */
static void
test_hopeless (void)
{
  g_auto (Outcome) outcome = lig ("sweep", "linear(4)", "--input", "8x4", "--data", "synthetic",
                                  "--device", "cpu", "--over", "seed=1..100", "--json", NULL);
  assert_failed (&outcome, 1, "op", "expected a loss");
  g_assert_null (strstr (outcome.err, "3 of 100"));
}

/* The other runs end, and the exit code says that one has failed. */
static void
test_failed (void)
{
  g_auto (Outcome) outcome =
    lig ("sweep", "linear(12) ! qk-norm(2) ! mean-squared-error", "--input", "8x4", "--data",
         "synthetic", "--steps", "3", "--device", "cpu", "--over", "0.out-features=12,13", NULL);
  g_assert_cmpint (outcome.code, ==, 1);
  assert_contains (outcome.err, "1 of 2 runs failed; try again with: lig sweep --resume ");
}

/* Waits until the second run of the newest sweep has steps. */
static void
wait_for_second (void)
{
  for (int i = 0; i < 600; i++) {
    g_auto (Outcome) runs = lig ("runs", "list", "--sweep", "last", "--json", NULL);
    if (runs.json && JSON_NODE_HOLDS_ARRAY (runs.json) && count (runs.json) == 2 &&
        json_node_get_value_type (at (runs.json, "0.last_step")) == G_TYPE_INT64)
      return;
    g_usleep (100000);
  }
  g_error ("the second run did not begin");
}

static void
test_interrupted (void)
{
  g_autoptr (GError) error = NULL;
  GPid pid;
  int status;
  char *argv[] = {(char *) g_getenv ("LIG"), "sweep", TRAINING, "--over",
                  "steps=2,100000000,3",     NULL};
  /* The sweeps of earlier tests must not be mistaken for this one. */
  g_autofree char *store = in_folder ("interrupted.db");
  g_setenv ("LIGATURE_STORE", store, TRUE);
  g_spawn_async (folder, argv, NULL,
                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                   G_SPAWN_STDERR_TO_DEV_NULL,
                 NULL, NULL, &pid, &error);
  g_assert_no_error (error);
  wait_for_second ();
  kill (pid, SIGINT);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 130);
  g_auto (Outcome) runs = lig ("runs", "list", "--sweep", "last", "--json", NULL);
  g_assert_cmpuint (count (runs.json), ==, 2);
  g_assert_cmpstr (text_at (runs.json, "0.status"), ==, "interrupted");
  g_assert_cmpstr (text_at (runs.json, "1.status"), ==, "done");
  /* The long run, which would take hours, is continued and interrupted again: only once, because a
   * second signal, which `timeout` sends to its group, would end the program immediately. */
  g_autofree char *resumed = g_strdup_printf (
    "timeout --foreground -s INT 3 %s sweep --resume last --json", g_getenv ("LIG"));
  g_auto (Outcome) again = shell (resumed);
  g_assert_cmpstr (text_at (again.json, "status"), ==, "incomplete");
  g_assert_cmpstr (text_at (again.json, "runs.1.run"), ==, text_at (runs.json, "0.run"));
  g_assert_cmpint (int_at (again.json, "runs.1.steps"), >, int_at (runs.json, "0.last_step"));
  g_autofree char *usual = in_folder ("runs.db");
  g_setenv ("LIGATURE_STORE", usual, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/sweep/document", test_document);
  g_test_add_func ("/cli/sweep/table", test_table);
  g_test_add_func ("/cli/sweep/report", test_report);
  g_test_add_func ("/cli/sweep/list", test_list);
  g_test_add_func ("/cli/sweep/rejected", test_rejected);
  g_test_add_func ("/cli/sweep/hopeless", test_hopeless);
  g_test_add_func ("/cli/sweep/failed", test_failed);
  g_test_add_func ("/cli/sweep/interrupted", test_interrupted);
  return run_cli_tests ();
}
