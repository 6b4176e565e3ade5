/* SPDX-License-Identifier: MIT */
/* `lig train --metrics`: its lines, resuming, readers that are slow or disappear, full disks; and
 * --quiet. */
#include "tests/cli/case.h"

#include <math.h>
#include <signal.h>

#define MODEL "'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error'"
#define TRAIN "lig train " MODEL " --input 32x8 --data synthetic --device cpu "

/* Parses each line; the last one must be complete. */
static GPtrArray *
parse (const char *text)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) json_node_unref);
  g_assert_true (*text == '\0' || g_str_has_suffix (text, "\n"));
  g_auto (GStrv) parts = g_strsplit (text, "\n", -1);
  for (char **part = parts; *part && **part; part++) {
    g_autoptr (GError) error = NULL;
    g_ptr_array_add (lines, json_from_string (*part, &error));
    g_assert_no_error (error);
  }
  return lines;
}

static GPtrArray *
read_lines (const char *name)
{
  g_autofree char *path = in_folder (name), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return parse (text);
}

static gboolean
is_evaluation (JsonNode *line)
{
  return json_object_has_member (json_node_get_object (line), "eval_loss");
}

/* Checks that the lines are those of the steps in order, without a gap or a repetition. Returns the
 * number of evaluations. */
static guint
check_steps (GPtrArray *lines, gint64 last)
{
  gint64 step = 0, evaluated = 0;
  guint evaluations = 0;
  for (guint i = 0; i < lines->len; i++) {
    JsonNode *line = lines->pdata[i];
    if (is_evaluation (line)) {
      assert_keys (line, "step eval_loss eval_accuracy");
      g_assert_cmpint (int_at (line, "step"), ==, step);
      g_assert_cmpint (step, >, evaluated);
      evaluated = step;
      evaluations++;
    } else {
      assert_keys (line, "step loss lr grad_norm samples_per_second");
      g_assert_cmpint (int_at (line, "step"), ==, ++step);
    }
  }
  g_assert_cmpint (step, ==, last);
  return evaluations;
}

static void
test_file (void)
{
  g_auto (Outcome) outcome = shell (TRAIN "--steps 40 --lr 0.02 --eval-every 10 --metrics m.jsonl");
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "done after 40 steps");
  g_autoptr (GPtrArray) lines = read_lines ("m.jsonl");
  g_assert_cmpuint (check_steps (lines, 40), ==, 4);
  g_assert_cmpfloat (json_node_get_double (at (lines->pdata[0], "lr")), ==, 0.02);
  g_assert_cmpfloat (json_node_get_double (at (lines->pdata[0], "loss")), >, 0);
  g_assert_cmpfloat (json_node_get_double (at (lines->pdata[0], "samples_per_second")), >, 32);
  g_assert_true (json_node_is_null (at (lines->pdata[10], "eval_accuracy")));
  /* The values are those of the store. */
  g_auto (Outcome) show = lig ("runs", "show", "last", "--json", NULL);
  g_auto (Outcome) export = shell ("lig runs export last -o m.csv");
  g_assert_cmpint (export.code, ==, 0);
  /* A new run replaces the file. */
  g_auto (Outcome) again = shell (TRAIN "--steps 3 --metrics m.jsonl");
  g_autoptr (GPtrArray) fewer = read_lines ("m.jsonl");
  check_steps (fewer, 3);
}

static void
test_stdout (void)
{
  g_auto (Outcome) outcome = shell (TRAIN "--steps 12 --metrics -");
  g_assert_cmpint (outcome.code, ==, 0);
  g_autoptr (GPtrArray) lines = parse (outcome.out);
  check_steps (lines, 12);
  assert_contains (outcome.err, "done after 12 steps");
  assert_contains (outcome.err, "lig runs show last");
  g_auto (Outcome) both = shell (TRAIN "--steps 12 --metrics - --json");
  assert_failed (&both, 2, "usage", "--metrics");
  g_auto (Outcome) document = shell (TRAIN "--steps 12 --metrics j.jsonl --json");
  g_assert_cmpint (int_at (document.json, "steps"), ==, 12);
  g_auto (Outcome) silent = shell (TRAIN "--steps 12 --metrics - -q");
  g_autoptr (GPtrArray) only = parse (silent.out);
  check_steps (only, 12);
  g_assert_cmpstr (silent.err, ==, "");
}

static void
test_classes (void)
{
  g_auto (Outcome) outcome =
    shell ("lig train 'linear(8) ! gelu ! linear(3) ! cross-entropy' "
           "--input 16x4 --data synthetic --device cpu --steps 8 --metrics -");
  g_assert_cmpint (outcome.code, ==, 0);
  g_autoptr (GPtrArray) lines = parse (outcome.out);
  g_assert_cmpuint (check_steps (lines, 8), >, 0);
  double right = json_node_get_double (at (lines->pdata[lines->len - 1], "eval_accuracy"));
  g_assert_cmpfloat (right, >=, 0);
  g_assert_cmpfloat (right, <=, 1);
}

/* A file that is longer than the checkpoint, as after a crash, with a half-written line. */
static void
test_resumed (void)
{
  g_auto (Outcome) begun =
    shell (TRAIN "--steps 30 --eval-every 10 --checkpoint r.safetensors --metrics r.jsonl && "
                 "printf '{\"step\":31,\"loss\":1,\"lr\":1,\"grad_norm\":1}\\n{\"step\":32,\"lo' "
                 ">> r.jsonl");
  g_assert_cmpint (begun.code, ==, 0);
  g_auto (Outcome) resumed =
    shell ("lig train --resume r.safetensors --steps 50 --metrics r.jsonl");
  g_assert_cmpint (resumed.code, ==, 0);
  g_autoptr (GPtrArray) lines = read_lines ("r.jsonl");
  g_assert_cmpuint (check_steps (lines, 50), ==, 5);
  /* Also a checkpoint that is older than the end of the file: the run continues as a new one. */
  g_auto (Outcome) copied = shell (
    TRAIN
    "--steps 20 --checkpoint s.safetensors --metrics s.jsonl && cp s.safetensors t.safetensors "
    "&& lig train --resume s.safetensors --steps 60 --metrics s.jsonl && "
    "lig train --resume t.safetensors --steps 40 --metrics s.jsonl");
  g_assert_cmpint (copied.code, ==, 0);
  g_autoptr (GPtrArray) shorter = read_lines ("s.jsonl");
  check_steps (shorter, 40);
}

static void
test_rejected (void)
{
  g_auto (Outcome) outcome =
    shell ("echo hello > notes.txt; " TRAIN "--steps 2 --metrics notes.txt --json");
  assert_failed (&outcome, 1, "file", "contains no metrics");
  g_auto (Outcome) kept = shell ("cat notes.txt");
  g_assert_cmpstr (kept.out, ==, "hello\n");
  g_auto (Outcome) missing = shell (TRAIN "--steps 2 --metrics no/such/m.jsonl --json");
  assert_failed (&missing, 1, "file", "no/such/m.jsonl");
}

/* A closed pipe ends the output, not the run. */
static void
test_closed_pipe (void)
{
  g_auto (Outcome) outcome =
    shell ("{ " TRAIN "--steps 30000 --metrics - ; echo \"code $?\" >&2; } | head -n 2");
  g_auto (GStrv) lines = g_strsplit (outcome.out, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 3);
  assert_contains (outcome.err, "code 0");
  assert_contains (outcome.err, "done after 30000 steps");
  g_assert_null (strstr (outcome.err, "cannot"));
}

/* A full disk is reported once; the run continues, its checkpoint stays, and the command fails. */
static void
test_full_disk (void)
{
  g_auto (Outcome) outcome =
    shell (TRAIN "--steps 20000 --checkpoint f.safetensors --metrics /dev/full");
  g_assert_cmpint (outcome.code, ==, 1);
  const char *first = strstr (outcome.err, "No space left on device");
  g_assert_nonnull (first);
  g_assert_null (strstr (first + 1, "No space left on device"));
  assert_contains (outcome.out, "done after 20000 steps");
  g_auto (Outcome) resumed = shell ("lig train --resume f.safetensors --steps 20010");
  g_assert_cmpint (resumed.code, ==, 0);
}

/* A reader that waits until the run is over, or for ten seconds, does not slow it down: it misses
 * steps, and their number is printed. */
static void
test_slow_reader (void)
{
  g_auto (Outcome) outcome =
    shell (TRAIN "--steps 30000 --metrics - 2>slow.txt | { for i in $(seq 100); do "
                 "grep -q 'done after' slow.txt && break; sleep 0.1; done; cat; }");
  g_autofree char *path = in_folder ("slow.txt"), *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  assert_contains (text, "the reader was too slow for ");
  g_autoptr (GPtrArray) lines = parse (outcome.out);
  gint64 step = 0;
  for (guint i = 0; i < lines->len; i++)
    if (!is_evaluation (lines->pdata[i])) {
      g_assert_cmpint (int_at (lines->pdata[i], "step"), >, step);
      step = int_at (lines->pdata[i], "step");
    }
  g_assert_cmpint (step, ==, 30000);
  g_assert_cmpuint (lines->len, <, 30000);
}

/* Waits until the file has a line, while the run continues. */
static void
test_live (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder ("live.jsonl");
  GPid pid;
  int status;
  char *argv[] = {"sh", "-c", "exec " TRAIN "--steps 100000000 -q --metrics live.jsonl", NULL};
  g_spawn_async (folder, argv, NULL,
                 G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL,
                 NULL, &pid, &error);
  g_assert_no_error (error);
  gboolean found = FALSE;
  for (int i = 0; i < 300 && !found; i++) {
    g_autofree char *text = NULL;
    g_usleep (50000);
    found = g_file_get_contents (path, &text, NULL, NULL) && strchr (text, '\n');
  }
  g_assert_true (found);
  kill (pid, SIGINT);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (WEXITSTATUS (status), ==, 130);
  g_autoptr (GPtrArray) lines = read_lines ("live.jsonl");
  g_assert_cmpuint (lines->len, >, 1);
}

static void
test_quiet (void)
{
  g_auto (Outcome) train = shell (TRAIN "--steps 5 -q");
  g_assert_cmpstr (train.err, ==, "");
  g_assert_cmpuint (strlen (train.out), ==, 37);
  g_auto (Outcome) show = shell ("lig runs show $(" TRAIN "--steps 6 --quiet) --json");
  g_assert_cmpint (show.code, ==, 0);
  g_auto (Outcome) sweep = shell ("lig sweep " MODEL " --input 32x8 --data synthetic --device cpu "
                                  "--over steps=2,3 -q");
  g_assert_cmpstr (sweep.err, ==, "");
  g_assert_cmpuint (strlen (sweep.out), ==, 37);
  g_auto (Outcome) repeat = shell ("lig runs repeat last -q");
  g_assert_cmpint (repeat.code, ==, 0);
  g_assert_cmpstr (repeat.err, ==, "");
  g_assert_cmpuint (strlen (repeat.out), ==, 37);
  g_auto (Outcome) wrong = shell ("lig train " MODEL " --input 32x8 --data csv:missing.csv -q");
  g_assert_cmpint (wrong.code, ==, 1);
  assert_contains (wrong.err, "missing.csv");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/metrics/file", test_file);
  g_test_add_func ("/cli/metrics/stdout", test_stdout);
  g_test_add_func ("/cli/metrics/classes", test_classes);
  g_test_add_func ("/cli/metrics/resumed", test_resumed);
  g_test_add_func ("/cli/metrics/rejected", test_rejected);
  g_test_add_func ("/cli/metrics/closed-pipe", test_closed_pipe);
  g_test_add_func ("/cli/metrics/full-disk", test_full_disk);
  g_test_add_func ("/cli/metrics/slow-reader", test_slow_reader);
  g_test_add_func ("/cli/metrics/live", test_live);
  g_test_add_func ("/cli/metrics/quiet", test_quiet);
  return run_cli_tests ();
}
