/* SPDX-License-Identifier: MIT */
/* `lig runs show`: what it prints about a run, and that its commands can be pasted. */
#include "tests/cli/runs-store.h"

static void
test_facts (void)
{
  make_store ();
  g_auto (Outcome) outcome = with_columns ("80", "lig runs show small~2");
  g_assert_cmpint (outcome.code, ==, 0);
  assert_contains (outcome.out, "run         " FIRST "\n");
  assert_contains (outcome.out, "started     2026-11-18 10:00:00 CET\n");
  assert_contains (outcome.out, "ended       2026-11-18 10:01:30 CET\n");
  assert_contains (outcome.out, "duration    1:30\n");
  assert_contains (outcome.out, "device      cpu (AMD EPYC)\n");
  assert_contains (outcome.out, "starred     yes\ntags        keep\n");
  assert_contains (outcome.out, "Sequence (input 4x2:fp32)\n"
                                "  linear(8) ! gelu ! mean-squared-error\n");
  assert_cells (outcome.out, "\n eval-loss 2 0.4 0.45 0.4 25\n");
  /* A learning rate has no best value. */
  assert_cells (outcome.out, "\n learning-rate 50 0.01 0.01 - -\n");
}

/* Each setting has a line; those that differ from the default name it. */
static void
test_settings (void)
{
  make_store ();
  g_auto (Outcome) wide = with_columns ("200", "lig runs show large");
  g_auto (Outcome) narrow = with_columns ("60", "lig runs show large");
  assert_contains (wide.out, "* steps               50        default 1000; Total optimizer steps\n"
                             "* lr                  0.1       default 0.001; Learning rate\n"
                             "  optimizer           adamw     Update rule\n");
  assert_contains (narrow.out, "* lr                  0.1       default 0.001; Learning rate\n");
  g_auto (GStrv) lines = g_strsplit (narrow.out, "\n", -1);
  gboolean inside = FALSE;
  for (char **line = lines; *line; line++) {
    inside = (inside || g_str_has_prefix (*line, "Settings")) && **line;
    g_assert_true (!inside || g_utf8_strlen (*line, -1) <= 60);
  }
}

/* The best accuracy is the highest, and settings that a run did not store have their default. */
static void
test_best (void)
{
  make_store ();
  sqlite3 *db = NULL;
  g_autofree char *path = in_folder ("runs.db");
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  static const double values[] = {0.25, 0.75, 0.5};
  for (int i = 0; i < 3; i++)
    execute (db, "INSERT INTO metric VALUES (1, 'eval-accuracy', %d, %f)", 10 * (i + 1), values[i]);
  for (int i = 0; i < 3; i++)
    execute (db, "INSERT INTO metric VALUES (3, 'eval-accuracy', %d, %f)", 10 * (i + 1),
             values[i] / 2);
  sqlite3_close (db);
  g_auto (Outcome) shown = with_columns ("120", "lig runs show small~2");
  assert_cells (shown.out, "\n eval-accuracy 3 0.25 0.5 0.75 20\n");
  assert_cells (shown.out,
                "\n schedule constant Schedule of the learning rate after the warm-up\n");
  g_auto (Outcome) compared = lig ("runs", "compare", "1111000", "2222", NULL);
  assert_cells (compared.out, "\neval-accuracy, max 0.75 0.375 (-0.375)\n");
}

/* The loads of experts fit 80 columns: those of many experts have lines of their own. */
static void
test_loads (void)
{
  make_store ();
  sqlite3 *db = NULL;
  g_autofree char *path = in_folder ("runs.db");
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  for (int count = 8; count <= 64; count *= 8) {
    g_autoptr (GString) load = g_string_new ("[0");
    for (int e = 1; e < count; e++)
      g_string_append_printf (load, ",%d", 100 * e);
    g_string_append_c (load, ']');
    for (int step = 50; step <= 100; step += 50)
      execute (db,
               "INSERT INTO expert_load (run, number, step, path, loads, balance, z, dropped) "
               "VALUES (1, %d, %d, '%d.0.0', '%s', 1.25, 0.5, 3)",
               count, step, count, load->str);
  }
  sqlite3_close (db);
  static const char *const widths[] = {"80", "200"};
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    g_auto (Outcome) shown = with_columns (widths[i], "lig runs show small~2");
    const char *table =
      strstr (shown.out, "\nLoad of experts in 2 recorded steps, losses of the last\n");
    g_assert_nonnull (table);
    g_auto (GStrv) lines = g_strsplit (table + 1, "\n", -1);
    for (char **line = lines; **line; line++)
      g_assert_cmpint (g_utf8_strlen (*line, -1), <=, atoi (widths[i]));
    if (i == 0) {
      assert_cells (table,
                    "\n router experts imbalance busiest idle dropped balance z-loss\n load\n");
      assert_contains (table, "\n      .");
    }
  }
}

/* Returns the command of the line with this meaning; (transfer full). */
static char *
find_command (const char *text, const char *meaning)
{
  const char *line = strstr (text, meaning), *start = line ? strstr (line, "lig ") : NULL;
  if (!start)
    g_error ("'%s' has no command for '%s'", text, meaning);
  return g_strndup (start, strcspn (start, "\n"));
}

static void
test_commands (void)
{
  g_auto (Outcome) trained =
    lig ("train", "linear(2) ! gelu ! mean-squared-error", "--input", "16x8", "--data", "synthetic",
         "--steps", "3", "--device", "cpu", "--name", "show", "--checkpoint", "s.st", "--store",
         "own store.db", NULL);
  g_assert_cmpint (trained.code, ==, 0);
  g_auto (Outcome) shown = lig ("runs", "show", "show", "--store", "own store.db", NULL);
  g_assert_true (g_regex_match_simple ("checkpoint [^ ]*s.st \\([0-9.]+ kB\\)\n", shown.out, 0, 0));
  const char *const meanings[] = {"verdicts (", "train longer", "repeat and compare", "report with",
                                  "metrics for"};
  for (guint i = 0; i < G_N_ELEMENTS (meanings); i++) {
    g_autofree char *command = find_command (shown.out, meanings[i]);
    assert_contains (command, " --store 'own store.db'");
    g_auto (Outcome) pasted = shell (command);
    g_assert_cmpint (pasted.code, ==, 0);
  }
  g_auto (Outcome) gone = shell ("rm s.st; lig runs show show~1 --store 'own store.db'");
  assert_contains (gone.out, "s.st (missing)\n");
  g_assert_null (strstr (gone.out, "train --resume"));
}

/* Verdicts are named with the paths of their ops, also in a repeated block. */
static void
test_verdicts (void)
{
  g_auto (Outcome) profiled = lig ("profile", "linear(8) ! gelu ! linear(4) ! gelu", "--input",
                                   "16x8", "--device", "cpu", "--store", "v.db", NULL);
  g_assert_cmpint (profiled.code, ==, 0);
  g_auto (Outcome) brief = lig ("runs", "show", "last", "--store", "v.db", NULL);
  g_assert_null (strstr (brief.out, "Verdicts\n"));
  g_auto (Outcome) outcome = lig ("runs", "show", "last", "--verdicts", "--store", "v.db", NULL);
  assert_contains (outcome.out, "Verdicts\n");
  assert_contains (outcome.out, "  fused      forward-linear-bias-activation at 0 to 1\n");
  assert_contains (outcome.out, "  fused      forward-linear-bias-activation at 2 to 3\n");
  g_assert_true (g_regex_match_simple ("  not fused  [a-z-]+ at [0-9].*: .+\n", outcome.out, 0, 0));
  /* Reports have one row for each place. */
  g_auto (Outcome) page =
    lig ("report", "last", "--store", "v.db", "-o", "-", "--format", "md", NULL);
  g_assert_cmpint (page.code, ==, 0);
  assert_contains (page.out, "| forward | 1 | forward-linear-bias-activation | 2 to 3 |\n");
  for (int first = 0; first <= 2; first += 2) {
    g_autofree char *row =
      g_strdup_printf ("\n| %d to %d | forward-linear-bias-activation | forward | taken | "
                       "forward-linear-bias-activation: taken |\n",
                       first, first + 1);
    assert_contains (page.out, row);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-show/facts", test_facts);
  g_test_add_func ("/cli-runs-show/settings", test_settings);
  g_test_add_func ("/cli-runs-show/loads", test_loads);
  g_test_add_func ("/cli-runs-show/best", test_best);
  g_test_add_func ("/cli-runs-show/commands", test_commands);
  g_test_add_func ("/cli-runs-show/verdicts", test_verdicts);
  return run_store_tests (argc, argv);
}
