/* SPDX-License-Identifier: MIT */
/* Tests limits on threads, notes about their number, and the repetition of an interrupted run. */
#include "tests/cli/case.h"

#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define TRAIN \
  "linear(8) ! gelu ! linear(3) ! cross-entropy", "--input", "4x8", "--data", "synthetic", \
    "--device", "cpu"

/* The limit does not apply to root. */
static void
limit (gpointer data)
{
  const struct rlimit two = {2, 2};
  if (getuid () == 0 && (setgroups (0, NULL) != 0 || setgid (65534) != 0 || setuid (65534) != 0))
    _exit (77);
  if (setrlimit (RLIMIT_NPROC, &two) != 0)
    _exit (77);
}

static void
test_limit (void)
{
  const char *argv[] = {g_getenv ("LIG"), "check", "linear(4)", "--input", "4x4", NULL};
  g_autoptr (GError) error = NULL;
  g_autofree char *err = NULL;
  int status = 0;
  if (!g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, limit, NULL, NULL,
                     &err, &status, &error)) {
    g_test_skip ("another user may not run the program");
    return;
  }
  g_assert_true (WIFEXITED (status));
  if (WEXITSTATUS (status) == 77) {
    g_test_skip ("the limit cannot be set");
    return;
  }
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
  g_test_message ("%s", err);
  g_assert_true (g_str_has_prefix (err, "lig: this process can start only "));
  assert_contains (err, "(ulimit -u); raise it");
  g_assert_true (strchr (err, '\n') == err + strlen (err) - 1);
}

static void
test_many (void)
{
  g_autofree char *number = g_strdup_printf ("%u", g_get_num_processors () + 3);
  g_autofree char *text = g_strconcat ("OMP_NUM_THREADS is ", number, ", this process has ", NULL);
  g_setenv ("OMP_NUM_THREADS", number, TRUE);
  g_auto (Outcome) many = lig ("train", TRAIN, "--steps", "2", NULL);
  g_setenv ("OMP_NUM_THREADS", "1", TRUE);
  g_auto (Outcome) one = lig ("train", TRAIN, "--steps", "2", NULL);
  g_unsetenv ("OMP_NUM_THREADS");
  g_assert_cmpint (many.code, ==, 0);
  g_assert_cmpint (one.code, ==, 0);
  assert_contains (many.err, text);
  g_assert_null (strstr (one.err, "OMP_NUM_THREADS"));
}

/* Stops a run after some steps with a signal, as a user does. */
static void
test_interrupted (void)
{
  g_auto (Outcome) stopped =
    shell ("\"$LIG\" train 'linear(8) ! cross-entropy' --input 4x8 --data synthetic --device cpu"
           " --steps 20000 --name cut --metrics cut.jsonl & run=$!;"
           " until [ \"$(wc -l < cut.jsonl 2>/dev/null || echo 0)\" -gt 20 ]; do sleep 0.05; done;"
           " kill -INT $run; wait $run");
  g_assert_cmpint (stopped.code, ==, 130);
  g_auto (Outcome) show = lig ("runs", "show", "last", "--json", NULL);
  gint64 last = int_at (show.json, "last_step");
  g_assert_cmpint (last, >, 0);
  g_assert_cmpint (last, <, 20000);
  g_auto (Outcome) again = lig ("runs", "repeat", "last", NULL);
  g_autofree char *said = g_strdup_printf (" ended at step %" G_GINT64_FORMAT
                                           " of 20000; all 20000 are repeated, the first "
                                           "%" G_GINT64_FORMAT " compared",
                                           last, last);
  assert_contains (again.err, said);
  g_assert_cmpint (again.code, ==, 0);
  /* A run that reached its end is repeated without a note. */
  g_auto (Outcome) whole = lig ("train", TRAIN, "--steps", "4", NULL);
  g_auto (Outcome) plain = lig ("runs", "repeat", "last", NULL);
  g_assert_null (strstr (plain.err, "are repeated"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/threads/limit", test_limit);
  g_test_add_func ("/cli/threads/many", test_many);
  g_test_add_func ("/cli/threads/interrupted", test_interrupted);
  return run_cli_tests ();
}
