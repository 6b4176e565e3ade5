/* SPDX-License-Identifier: MIT */
/* `lig runs`: the run selected by `last`, the accepted words, and deleting. */
#include "tests/cli/case.h"

#include <unistd.h>

#define SMALL "linear(2) ! mean-squared-error"

/* Trains into a new store with its own checkpoint; returns the uuid. */
static char *
train (const char *checkpoint)
{
  g_auto (Outcome) trained =
    lig ("train", SMALL, "--input", "16x8", "--data", "synthetic", "--steps", "3", "--device",
         "cpu", "--checkpoint", checkpoint, "--json", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  return g_strdup (text_at (trained.json, "run"));
}

static gboolean
exists (const char *name)
{
  g_autofree char *path = in_folder (name);
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* A profile has neither metrics nor a checkpoint. */
static void
test_last (void)
{
  g_autofree char *run = train ("last.st");
  g_autofree char *line = g_strdup_printf ("the last training run is %.8s", run);
  g_auto (Outcome) profiled = lig ("profile", "gelu", "--input", "4x8", "--device", "cpu", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  g_auto (Outcome) exported = lig ("runs", "export", "last", "-o", "last.csv", NULL);
  g_assert_cmpint (exported.code, ==, 0);
  assert_contains (exported.err, line);
  g_auto (Outcome) rows = shell ("grep -c . last.csv");
  g_assert_cmpstr (rows.out, ==, "4\n");
  g_auto (Outcome) resumed = lig ("train", "--resume", "last", "--steps", "5", "--json", NULL);
  g_assert_cmpint (resumed.code, ==, 0);
  assert_contains (resumed.err, line);
  g_assert_cmpint (int_at (resumed.json, "steps"), ==, 5);
  g_auto (Outcome) shown = lig ("runs", "show", "last", "--json", NULL);
  g_assert_cmpstr (text_at (shown.json, "kind"), ==, "profile");
  assert_contains (shown.err, "the last run is");
}

/* A store other than the run's has no record of the run's last step. */
static void
test_other_store (void)
{
  g_autofree char *run = train ("other.st");
  g_autofree char *line = g_strdup_printf ("continues as a new run; run %.8s, which wrote it", run);
  g_auto (Outcome) resumed =
    lig ("train", "--resume", "other.st", "--steps", "9", "--store", "other.db", NULL);
  g_assert_cmpint (resumed.code, ==, 0);
  assert_contains (resumed.err, line);
  g_auto (Outcome) listed = lig ("runs", "list", "--store", "other.db", NULL);
  assert_contains (listed.out, "done");
  g_auto (Outcome) again =
    lig ("train", "--resume", "other.st", "--steps", "12", "--store", "other.db", NULL);
  g_assert_cmpint (again.code, ==, 0);
  g_assert_null (strstr (again.err, "new run"));
}

static void
test_status (void)
{
  g_auto (Outcome) bogus = lig ("runs", "list", "--status", "bogus", "--json", NULL);
  assert_failed (&bogus, 2, "usage", "running, done, failed, cancelled or interrupted");
  g_auto (Outcome) done = lig ("runs", "list", "--status", "done", "--json", NULL);
  g_assert_cmpint (done.code, ==, 0);
}

/* Without --checkpoints the checkpoints are kept and named. With it only the run's own is deleted.
 */
static void
test_delete (void)
{
  g_autofree char *kept = train ("kept.st"), *gone = train ("gone.st");
  g_auto (Outcome) without = lig ("runs", "delete", kept, "--yes", NULL);
  g_assert_cmpint (without.code, ==, 0);
  assert_contains (without.err, "kept.st");
  g_assert_true (exists ("kept.st"));
  g_auto (Outcome) with = lig ("runs", "delete", gone, "--yes", "--checkpoints", NULL);
  g_assert_cmpint (with.code, ==, 0);
  g_assert_false (exists ("gone.st"));
}

static void
test_delete_spares (void)
{
  g_autofree char *older = train ("shared.st"), *newer = train ("shared.st");
  g_autofree char *victim = in_folder ("victim.txt");
  g_assert_true (g_file_set_contents (victim, "precious", -1, NULL));
  /* The row of an artifact may name any file. */
  g_autofree char *line = g_strdup_printf (
    "python3 -c \"import sqlite3; c = sqlite3.connect ('runs.db'); c.execute ('INSERT INTO "
    "artifact "
    "(run, kind, path, created) SELECT id, \\\"checkpoint\\\", \\\"%s\\\", 1 FROM run'); c.commit "
    "()\"",
    victim);
  g_auto (Outcome) forged = shell (line);
  g_assert_cmpint (forged.code, ==, 0);
  g_auto (Outcome) deleted = lig ("runs", "delete", older, "--yes", "--checkpoints", NULL);
  g_assert_cmpint (deleted.code, ==, 0);
  g_assert_true (exists ("shared.st"));
  g_assert_true (exists ("victim.txt"));
  g_auto (Outcome) last = lig ("runs", "delete", newer, "--yes", "--checkpoints", NULL);
  g_assert_cmpint (last.code, ==, 0);
  g_assert_false (exists ("shared.st"));
  g_assert_true (exists ("victim.txt"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs/last", test_last);
  g_test_add_func ("/cli-runs/other-store", test_other_store);
  g_test_add_func ("/cli-runs/status", test_status);
  g_test_add_func ("/cli-runs/delete", test_delete);
  g_test_add_func ("/cli-runs/delete-spares", test_delete_spares);
  return run_cli_tests ();
}
