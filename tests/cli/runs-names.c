/* SPDX-License-Identifier: MIT */
/* RUN as a name, as `last~1`, and as the beginning of a uuid, in every command that takes it. */
#include "tests/cli/runs-store.h"

/* Checks which run a word selects in `lig runs show --json`. */
static void
check (const char *word, const char *uuid)
{
  g_auto (Outcome) outcome = lig ("runs", "show", word, "--json", NULL);
  g_assert_cmpint (outcome.code, ==, 0);
  g_assert_cmpstr (text_at (outcome.json, "run"), ==, uuid);
}

static void
test_found (void)
{
  make_store ();
  check ("last", NEWEST);
  check ("last~", PROBE);
  check ("last~1", PROBE);
  check ("last~~", THIRD);
  check ("last~4", FIRST);
  check ("small", NEWEST);
  check ("small~0", NEWEST);
  check ("small~1", THIRD);
  check ("small~2", FIRST);
  check ("large", SECOND);
  check ("a probe", PROBE);
  check ("2222", THIRD);
  check ("2222~1", SECOND);
  check ("11112", SECOND);
  check (FIRST, FIRST);
  check ("1111222", SECOND);
}

/* The command prints which run it selected unless the word can only mean that one. */
static void
test_said (void)
{
  make_store ();
  g_auto (Outcome) several = lig ("runs", "show", "small", NULL);
  assert_contains (several.err, "the newest of 3 runs called small is 44440000, "
                                "2026-11-22 10:00:00; small~1 is the one before");
  g_auto (Outcome) before = lig ("runs", "show", "small~1", NULL);
  assert_contains (before.err, "small~1 is 22220000 small, 2026-11-20 10:00:00");
  g_auto (Outcome) single = lig ("runs", "show", "large", NULL);
  g_assert_cmpstr (single.err, ==, "");
  g_auto (Outcome) prefix = lig ("runs", "show", "2222", NULL);
  g_assert_cmpstr (prefix.err, ==, "");
}

static void
test_rejected (void)
{
  make_store ();
  g_auto (Outcome) ambiguous = lig ("runs", "show", "1111", "--json", NULL);
  assert_failed (&ambiguous, 1, "store", "'1111' matches 2 runs in store ");
  assert_contains (ambiguous.err, "give more characters: 11112222-0000 large (2026-11-19 10:00), "
                                  "11110000-0000 small (2026-11-18 10:00)");
  g_auto (Outcome) typo = lig ("runs", "show", "smalll", "--json", NULL);
  assert_failed (&typo, 1, "store", "has no run 'smalll'; did you mean 'small'?");
  g_auto (Outcome) lst = lig ("runs", "show", "lst", "--json", NULL);
  assert_failed (&lst, 1, "store", "has no run 'lst'; did you mean 'last'?");
  g_auto (Outcome) far = lig ("runs", "show", "small~3", "--json", NULL);
  assert_failed (&far, 1, "store", "has no run 'small~3'; only 3 runs match without ~");
  g_auto (Outcome) before = lig ("runs", "show", "1111000~1", "--json", NULL);
  assert_failed (&before, 1, "store", "only 1 run matches without ~");
  g_auto (Outcome) brief = lig ("runs", "show", "222", "--json", NULL);
  assert_failed (&brief, 1, "store", "has no run called '222'; a uuid needs at least 4 characters");
  g_auto (Outcome) empty = lig ("runs", "show", "", "--json", NULL);
  assert_failed (&empty, 1, "store", "has no run ''");
}

/* A name that looks like the beginning of a uuid, or ends in ~1, is still a name. */
static void
test_odd_names (void)
{
  make_store ();
  g_auto (Outcome) renamed = shell (
    "python3 -c \"import sqlite3; c = sqlite3.connect ('runs.db'); c.execute ('UPDATE experiment"
    " SET name = \\\"2222\\\" WHERE id = 2'); c.execute ('UPDATE experiment SET name ="
    " \\\"last~2\\\" WHERE id = 3'); c.commit ()\"");
  g_assert_cmpint (renamed.code, ==, 0);
  check ("2222", SECOND);
  check ("22220", THIRD);
  check ("last~2", PROBE);
  check ("last~3", SECOND);
}

/* `lig report` also takes an expression; an op or a file has precedence over a name. */
static void
test_report (void)
{
  make_store ();
  g_auto (Outcome) named = lig ("report", "small~2", "-o", "named.md", NULL);
  g_assert_cmpint (named.code, ==, 0);
  assert_contains (named.err, "small~2 is 11110000");
  g_auto (Outcome) text = shell ("grep -c 11110000 named.md");
  g_assert_cmpint (text.code, ==, 0);
  g_auto (Outcome) foreign = lig ("report", "large", "--eval", "-o", "x.md", "--json", NULL);
  assert_failed (&foreign, 2, "usage", "'large' is a run");
  g_auto (Outcome) op = lig ("report", "gleu", "--input", "2x2", "-o", "x.md", "--json", NULL);
  g_assert_cmpint (op.code, ==, 1);
  assert_contains (op.err, "did you mean 'gelu'?");
}

/* A folder of the name of a run does not hide it, unless it has weights. */
static void
test_folder (void)
{
  make_store ();
  g_auto (Outcome) made = shell ("mkdir -p large 'a probe'");
  g_assert_cmpint (made.code, ==, 0);
  g_auto (Outcome) report = lig ("report", "large", "-o", "large.md", NULL);
  g_assert_cmpint (report.code, ==, 0);
  assert_contains (report.err,
                   "large is the run 11112222 large, 2026-11-19 10:00:00; ./large is the "
                   "folder");
  /* The command knows the run, which has no checkpoint in this store. */
  static const char *const commands[] = {"export-weights large -o w.safetensors",
                                         "apply large --input x.safetensors -o y.safetensors",
                                         "apply gelu --weights large --input x.safetensors -o y"};
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    g_autofree char *line = g_strconcat ("lig ", commands[i], " --json", NULL);
    g_auto (Outcome) outcome = shell (line);
    assert_contains (outcome.err, "run 11112222 has no checkpoint");
  }
  g_auto (Outcome) path = shell ("lig export-weights ./large -o w.safetensors --json");
  assert_contains (path.err, "the folder './large' contains neither model.safetensors");
  g_auto (Outcome) weights = shell ("touch large/model.safetensors && lig export-weights large -o "
                                    "w.safetensors --json");
  assert_contains (weights.err, "large/model.safetensors");
}

/* A resumed run is the newest of its name, and the command prints which one. */
static void
test_resume (void)
{
  for (int i = 0; i < 2; i++) {
    g_auto (Outcome) trained = lig ("train", "linear(2) ! mean-squared-error", "--input", "16x8",
                                    "--data", "synthetic", "--steps", i == 0 ? "3" : "5",
                                    "--device", "cpu", "--name", "night", "--store", "n.db", NULL);
    g_assert_cmpint (trained.code, ==, 0);
  }
  g_auto (Outcome) resumed =
    lig ("train", "--resume", "night~1", "--steps", "8", "--store", "n.db", "--json", NULL);
  g_assert_cmpint (resumed.code, ==, 0);
  g_assert_cmpint (int_at (resumed.json, "steps"), ==, 8);
  g_autofree char *line =
    g_strdup_printf ("continuing %.8s night of 2", text_at (resumed.json, "run"));
  assert_contains (resumed.err, line);
  assert_contains (resumed.err, " from step 3: ");
  g_auto (Outcome) last =
    lig ("train", "--resume", "night", "--steps", "9", "--store", "n.db", "--json", NULL);
  assert_contains (last.err, " from step 5: ");
}

/* A profile has the same name as the training run of the same sequence, but cannot be resumed. */
static void
test_kind (void)
{
  static const char sequence[] = "linear(3) ! mean-squared-error";
  g_auto (Outcome) trained = lig ("train", sequence, "--input", "16x8", "--data", "synthetic",
                                  "--steps", "3", "--device", "cpu", "--store", "k.db", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) profiled = lig ("profile", "linear(3) ! mean-squared-error", "--input", "16x8",
                                   "--device", "cpu", "--store", "k.db", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  g_auto (Outcome) shown = lig ("runs", "show", sequence, "--store", "k.db", "--json", NULL);
  g_assert_cmpstr (text_at (shown.json, "kind"), ==, "profile");
  g_auto (Outcome) resumed =
    lig ("train", "--resume", sequence, "--steps", "5", "--store", "k.db", "--json", NULL);
  g_assert_cmpint (resumed.code, ==, 0);
  g_assert_cmpint (int_at (resumed.json, "steps"), ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-names/found", test_found);
  g_test_add_func ("/cli-runs-names/said", test_said);
  g_test_add_func ("/cli-runs-names/rejected", test_rejected);
  g_test_add_func ("/cli-runs-names/odd-names", test_odd_names);
  g_test_add_func ("/cli-runs-names/report", test_report);
  g_test_add_func ("/cli-runs-names/folder", test_folder);
  g_test_add_func ("/cli-runs-names/resume", test_resume);
  g_test_add_func ("/cli-runs-names/kind", test_kind);
  return run_store_tests (argc, argv);
}
