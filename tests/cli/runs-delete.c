/* SPDX-License-Identifier: MIT */
/* `lig runs delete` in a terminal, in a pipe, by words and by options. */
#include "tests/cli/runs-store.h"

/* Checks which runs are left, by the first digits of their uuids. */
static void
check_left (const char *expected)
{
  g_auto (Outcome) outcome =
    shell ("lig runs list --columns run | tail -n +2 | cut -c 1-5 | tr '\\n' ' '");
  g_assert_cmpstr (outcome.out, ==, expected);
}

#define ALL "44440 33330 22220 11112 11110 "

static void
test_answers (void)
{
  int code;
  make_store ();
  g_autofree char *no = type ("lig runs delete large", "n", 80, &code);
  g_assert_cmpint (code, ==, 1);
  assert_contains (no, "11112222 large, done, 2026-11-19 10:00:00 CET");
  assert_contains (no, "Delete 1 run and its metrics? [y/N]");
  assert_contains (no, "nothing was deleted");
  g_autofree char *end = type ("lig runs delete large", "\004", 80, &code);
  g_assert_cmpint (code, ==, 1);
  g_autofree char *interrupted = type ("exec lig runs delete large", "\003", 80, &code);
  g_assert_true (code == -SIGINT || code == 130);
  check_left (ALL);
  g_autofree char *yes = type ("lig runs delete large last", "y", 80, &code);
  g_assert_cmpint (code, ==, 0);
  assert_contains (yes, "Delete 2 runs and their metrics? [y/N]");
  assert_contains (yes, "deleted 2 runs");
  check_left ("33330 22220 11110 ");
}

static void
test_no_terminal (void)
{
  make_store ();
  g_auto (Outcome) rejected = lig ("runs", "delete", "large", "--json", NULL);
  assert_failed (&rejected, 2, "usage", "not a terminal; confirm with --yes");
  check_left (ALL);
  g_auto (Outcome) done = lig ("runs", "delete", "large", "--yes", "--json", NULL);
  g_assert_cmpint (done.code, ==, 0);
  g_assert_cmpstr (text_at (done.json, "0"), ==, SECOND);
  check_left ("44440 33330 22220 11110 ");
}

static void
test_options (void)
{
  int code;
  make_store ();
  g_auto (Outcome) none = lig ("runs", "delete", "--yes", "--json", NULL);
  assert_failed (&none, 2, "usage", "options such as --since or --all select runs");
  g_auto (Outcome) both = lig ("runs", "delete", "large", "--all", "--yes", "--json", NULL);
  assert_failed (&both, 2, "usage", "either by name or by options");
  g_auto (Outcome) empty = lig ("runs", "delete", "--name", "nothing", "--yes", NULL);
  g_assert_cmpint (empty.code, ==, 0);
  assert_contains (empty.err, "nothing was deleted");
  check_left (ALL);
  g_auto (Outcome) since =
    lig ("runs", "delete", "--unstarred", "--since", "2026-11-22", "--yes", NULL);
  g_assert_cmpint (since.code, ==, 0);
  check_left ("33330 22220 11112 11110 ");
  g_autofree char *question = type ("lig runs delete --all --unstarred", "n", 80, &code);
  assert_contains (question, "Delete 3 runs and their metrics? [y/N]");
  g_auto (Outcome) all = lig ("runs", "delete", "--all", "--unstarred", "--yes", NULL);
  g_assert_cmpint (all.code, ==, 0);
  assert_contains (all.err, "deleted 3 runs");
  check_left ("11110 ");
  g_auto (Outcome) compact =
    lig ("runs", "delete", "--name", "nothing", "--yes", "--compact", NULL);
  g_assert_cmpint (compact.code, ==, 0);
  assert_contains (compact.err, "the store has ");
  check_left ("11110 ");
}

/* A wrong word deletes nothing. */
static void
test_wrong_word (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "delete", "large", "smalll", "--yes", "--json", NULL);
  assert_failed (&outcome, 1, "store", "did you mean 'small'?");
  check_left (ALL);
}

/* This process is alive, so its run counts as running. */
static void
test_running (void)
{
  make_store ();
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder ("runs.db");
  g_autoptr (LigStore) store = lig_store_open (path, &error);
  g_assert_no_error (error);
  const LigRunRecord record = {.name = "busy", .sequence = "{}", .kind = "train", .settings = "{}"};
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  g_auto (Outcome) one = lig ("runs", "delete", "busy", "--yes", "--json", NULL);
  assert_failed (&one, 1, "store", " busy is running on ");
  g_auto (Outcome) all = lig ("runs", "delete", "--all", "--yes", "--json", NULL);
  assert_failed (&all, 1, "store", "nothing was deleted");
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_auto (Outcome) done = lig ("runs", "delete", "busy", "--yes", NULL);
  g_assert_cmpint (done.code, ==, 0);
  check_left (ALL);
}

static void
train (const char *checkpoint)
{
  g_auto (Outcome) trained =
    lig ("train", "linear(2) ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--checkpoint", checkpoint, "--name", "t", NULL);
  g_assert_cmpint (trained.code, ==, 0);
}

static gboolean
exists (const char *name)
{
  g_autofree char *path = in_folder (name);
  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* The second question offers the checkpoint files, with their size. */
static void
test_checkpoints (void)
{
  int code;
  train ("a.st");
  train ("b.st");
  train ("c.st");
  g_autofree char *kept = type ("lig runs delete t~2", "yn", 80, &code);
  g_assert_cmpint (code, ==, 0);
  g_assert_true (
    g_regex_match_simple ("Also delete its checkpoint [^ ]*a.st \\([0-9.]+ kB\\)\\?", kept, 0, 0));
  assert_contains (kept, "kept checkpoint");
  g_assert_true (exists ("a.st"));
  g_autofree char *gone = type ("lig runs delete t t~1", "yy", 80, &code);
  g_assert_true (
    g_regex_match_simple ("Also delete their 2 checkpoint files \\([0-9.]+ kB\\)\\?", gone, 0, 0));
  assert_contains (gone, "deleted 2 runs and 2 checkpoint files");
  g_assert_false (exists ("b.st"));
  g_assert_false (exists ("c.st"));
}

/* Moves runs to the trash like the window: no command does that. */
static void
move_to_trash (const char *where)
{
  g_autofree char *path = in_folder ("runs.db");
  sqlite3 *db = NULL;
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  execute (db, "UPDATE run SET deleted = 1 WHERE id IN (%s)", where);
  sqlite3_close (db);
}

/* The trash is listed, restored and emptied only by --deleted. */
static void
test_trash (void)
{
  make_store ();
  move_to_trash ("1, 2, 3");
  check_left ("44440 33330 ");
  g_auto (Outcome) listed = lig ("runs", "list", "--deleted", "--json", NULL);
  g_assert_cmpuint (json_array_get_length (json_node_get_array (listed.json)), ==, 3);
  g_auto (Outcome) named = lig ("runs", "restore", "large", "--json", NULL);
  g_assert_cmpint (named.code, ==, 0);
  g_assert_cmpstr (text_at (named.json, "run"), ==, SECOND);
  check_left ("44440 33330 11112 ");
  g_auto (Outcome) again = lig ("runs", "restore", "11112222", "--json", NULL);
  assert_failed (&again, 1, "store", "is not in the trash; lig runs list --deleted lists");
  g_auto (Outcome) none = lig ("runs", "restore", "--json", NULL);
  assert_failed (&none, 2, "usage", "options such as --since or --all select runs");
  g_auto (Outcome) early = lig ("runs", "restore", "--name", "small", "--limit", "1", NULL);
  assert_contains (early.err, "restored 1 run");
  check_left ("44440 33330 22220 11112 ");
  g_auto (Outcome) all = lig ("runs", "delete", "--deleted", "--yes", NULL);
  assert_contains (all.err, "deleted 1 run");
  check_left ("44440 33330 22220 11112 ");
  g_auto (Outcome) empty = lig ("runs", "restore", "--deleted", NULL);
  g_assert_cmpint (empty.code, ==, 0);
  assert_contains (empty.err, "no matching runs in the trash");
}

static void
test_checkpoint_options (void)
{
  int code;
  train ("d.st");
  g_auto (Outcome) both =
    lig ("runs", "delete", "t", "--checkpoints", "--keep-checkpoints", "--json", NULL);
  assert_failed (&both, 2, "usage", "cannot be combined with");
  g_autofree char *kept = type ("lig runs delete t --keep-checkpoints", "y", 80, &code);
  g_assert_cmpint (code, ==, 0);
  g_assert_null (strstr (kept, "Also delete"));
  g_assert_true (exists ("d.st"));
  train ("e.st");
  g_autofree char *gone = type ("lig runs delete t --checkpoints", "y", 80, &code);
  g_assert_cmpint (code, ==, 0);
  assert_contains (gone, "Delete 1 run, its metrics and the checkpoint ");
  g_assert_false (exists ("e.st"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-delete/answers", test_answers);
  g_test_add_func ("/cli-runs-delete/no-terminal", test_no_terminal);
  g_test_add_func ("/cli-runs-delete/options", test_options);
  g_test_add_func ("/cli-runs-delete/trash", test_trash);
  g_test_add_func ("/cli-runs-delete/wrong-word", test_wrong_word);
  g_test_add_func ("/cli-runs-delete/running", test_running);
  g_test_add_func ("/cli-runs-delete/checkpoints", test_checkpoints);
  g_test_add_func ("/cli-runs-delete/checkpoint-options", test_checkpoint_options);
  return run_store_tests (argc, argv);
}
