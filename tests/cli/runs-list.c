/* SPDX-License-Identifier: MIT */
/* `lig runs list`: columns, orders, filters, and the width of the terminal. */
#include "tests/cli/runs-store.h"

/* Checks the names in the first column of `lig runs list --columns run …`, by their first digits.
 */
static void
check (const char *options, const char *expected)
{
  g_autofree char *line = g_strdup_printf (
    "lig runs list --columns run %s | tail -n +2 | cut -c 1-5 | tr '\\n' ' '", options);
  g_auto (Outcome) outcome = shell (line);
  if (*expected)
    g_assert_cmpstr (outcome.err, ==, "");
  else
    assert_contains (outcome.err, "no matching runs in ");
  g_assert_cmpstr (outcome.out, ==, expected);
}

static void
test_sorted (void)
{
  make_store ();
  check ("", "44440 33330 22220 11112 11110 ");
  check ("--reverse", "11110 11112 22220 33330 44440 ");
  check ("--sort started", "11110 11112 22220 33330 44440 ");
  check ("--sort -started --limit 2", "44440 33330 ");
  check ("--sort eval-loss", "11112 22220 11110 44440 33330 ");
  check ("--sort -eval-loss", "44440 11110 22220 11112 33330 ");
  check ("--sort best-eval-loss", "22220 11112 11110 44440 33330 ");
  check ("--sort eval-loss --limit 1", "11112 ");
  check ("--sort lr", "11110 44440 22220 11112 33330 ");
  check ("--sort -learning-rate --limit 1", "11112 ");
  check ("--sort run", "11110 11112 22220 33330 44440 ");
  check ("--sort name --kind train", "11112 44440 22220 11110 ");
  check ("--sort loss --limit 1", "11110 ");
  check ("--sort -star --limit 1", "11110 ");
}

static void
test_filtered (void)
{
  make_store ();
  check ("--kind profile", "33330 ");
  check ("--starred", "11110 ");
  check ("--unstarred --kind train", "44440 22220 11112 ");
  check ("--name small", "44440 22220 11110 ");
  check ("--name '*a*'", "44440 33330 22220 11112 11110 ");
  check ("--name 'l*'", "11112 ");
  check ("--status failed", "44440 ");
  check ("--tag keep", "11110 ");
  check ("--since 2026-11-20", "44440 33330 22220 ");
  check ("--since '2026-11-20 10:00'", "44440 33330 22220 ");
  check ("--since '2026-11-20 10:01'", "44440 33330 ");
  check ("--since 2026-11-20T09:00:00Z", "44440 33330 22220 ");
  check ("--since 2026-11-20T09:00:01Z", "44440 33330 ");
  check ("--since 2026-11-19 --until 2026-11-21", "22220 11112 ");
  check ("--until '20 years ago'", "");
}

/* A duration counts back from now, days begin at the local midnight. */
static void
test_dates (void)
{
  make_store ();
  g_auto (Outcome) moved =
    shell ("python3 -c \"import sqlite3, time; c = sqlite3.connect ('runs.db'); now = time.time ();"
           " [c.execute ('UPDATE run SET started = ? WHERE id = ?', (int ((now - s) * 1e6), i))"
           " for i, s in ((1, 9 * 86400), (2, 50 * 3600), (3, 47 * 3600), (4, 7300), (5, 3500))];"
           " c.commit ()\"");
  g_assert_cmpint (moved.code, ==, 0);
  check ("--since 1h", "44440 ");
  check ("--since '1 hour ago'", "44440 ");
  check ("--since 3.hours.ago", "44440 33330 ");
  check ("--since '2 days'", "44440 33330 22220 ");
  check ("--since 1w", "44440 33330 22220 11112 ");
  check ("--since '1 month'", "44440 33330 22220 11112 11110 ");
}

static void
test_words (void)
{
  make_store ();
  g_auto (Outcome) date = lig ("runs", "list", "--since", "tomorow", "--json", NULL);
  assert_failed (&date, 2, "usage", "--since is 'tomorow', expected a date");
  g_auto (Outcome) column = lig ("runs", "list", "--columns", "name,eval-los", "--json", NULL);
  assert_failed (&column, 2, "usage",
                 "--columns: 'eval-los' is not a column; did you mean 'eval-loss'?");
  g_auto (Outcome) none = lig ("runs", "list", "--columns", "", "--json", NULL);
  assert_failed (&none, 2, "usage", "--columns is empty, expected COLUMN");
  g_auto (Outcome) sort = lig ("runs", "list", "--sort", "lrr", "--json", NULL);
  assert_failed (&sort, 2, "usage", "--sort: 'lrr' is not a column; did you mean 'lr'?");
  g_auto (Outcome) kind = lig ("runs", "list", "--kind", "trainn", "--json", NULL);
  assert_failed (&kind, 2, "usage", "did you mean 'train'?");
  g_auto (Outcome) stars = lig ("runs", "list", "--starred", "--unstarred", "--json", NULL);
  assert_failed (&stars, 2, "usage", "give one of them");
  g_auto (Outcome) foreign = lig ("runs", "show", "last", "--limit", "3", "--json", NULL);
  assert_failed (&foreign, 2, "usage", "lig runs show has no option --limit");
  g_auto (Outcome) verb = lig ("runs", "lst", "--json", NULL);
  g_assert_cmpint (verb.code, ==, 2);
  assert_contains (verb.err, "did you mean 'list'?");
}

/* Parameters of ops are columns, orders and groups, also of ops in blocks. */
static void
test_parameters (void)
{
  make_store ();
  sqlite3 *db = NULL;
  g_autofree char *path = in_folder ("runs.db");
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  execute (db, "UPDATE experiment SET sequence = '{\"ligature\": 1, \"ops\": [{\"op\": \"block\","
               " \"repeat\": 2, \"ops\": [{\"op\": \"gelu\"}, {\"op\": \"linear\","
               " \"out-features\": 64}]}]}' WHERE id = 2");
  sqlite3_close (db);
  g_auto (Outcome) listed =
    lig ("runs", "list", "--columns", "name,0.out-features,0.1.1.out-features", "--sort",
         "-0.1.1.out-features", NULL);
  g_assert_cmpint (listed.code, ==, 0);
  assert_cells (listed.out, "name 0.out-features 0.1.1.out-features\n");
  assert_cells (listed.out, "\nlarge - 64\n");
  assert_cells (listed.out, "\nsmall 8 -\n");
  g_assert_true (strstr (listed.out, "large") < strstr (listed.out, "small"));
  g_auto (Outcome) wrong = lig ("runs", "list", "--columns", "0.nothing", "--json", NULL);
  assert_failed (&wrong, 2, "usage",
                 "--columns: '0.nothing' is not a column; give a setting such as lr, "
                 "a parameter such as 0.out-features");
}

static void
test_columns (void)
{
  make_store ();
  g_auto (Outcome) outcome = lig ("runs", "list", "--columns",
                                  "name,lr,loss,best-eval-loss,step-time,duration,star,tags", NULL);
  assert_lines (outcome.out,
                "name        lr   loss  best-eval-loss  step-time  duration  star  tags\n"
                "small     0.01      2             2.5    2.01 ms      1:30\n"
                "a probe      -      -               -          -      1:30\n"
                "small     0.01  0.501             0.3    2.01 ms      1:30\n"
                "large      0.1    0.9            0.35    2.01 ms      1:30\n"
                "small    0.001    0.5             0.4    2.01 ms      1:30  *     * keep\n");
}

#define WHOLE \
  "run       name     kind     status       device  started           step   loss  eval-loss  " \
  "tags\n" \
  "44440000  small    train    failed       cpu     2026-11-22 10:00    10      2          3\n" \
  "33330000  a probe  profile  done         cpu     2026-11-21 10:00     -      -          -\n" \
  "22220000  small    train    interrupted  cpu     2026-11-20 10:00    50  0.501       0.44\n" \
  "11112222  large    train    done         cpu     2026-11-19 10:00    50    0.9       0.35\n" \
  "11110000  small    train    done         cpu     2026-11-18 10:00    50    0.5       0.45  * " \
  "keep\n"

/* Pipes have every column; a terminal loses the least important ones, which are named. */
static void
test_width (void)
{
  make_store ();
  g_auto (Outcome) pipe = with_columns (NULL, "lig runs list");
  assert_lines (pipe.out, WHOLE);
  g_assert_cmpstr (pipe.err, ==, "");
  g_auto (Outcome) wide = with_columns ("200", "lig runs list");
  assert_lines (wide.out, WHOLE);
  g_auto (Outcome) usual = with_columns ("80", "lig runs list");
  assert_contains (usual.err, "not shown at width 80: tags, device, kind; choose");
  assert_lines (usual.out,
                "run       name     status       started           step   loss  eval-loss\n"
                "44440000  small    failed       2026-11-22 10:00    10      2          3\n"
                "33330000  a probe  done         2026-11-21 10:00     -      -          -\n"
                "22220000  small    interrupted  2026-11-20 10:00    50  0.501       0.44\n"
                "11112222  large    done         2026-11-19 10:00    50    0.9       0.35\n"
                "11110000  small    done         2026-11-18 10:00    50    0.5       0.45\n");
  g_auto (Outcome) narrow = with_columns ("60", "lig runs list --limit 2");
  assert_lines (narrow.out, "run       name     status  started           loss  eval-loss\n"
                            "44440000  small    failed  2026-11-22 10:00     2          3\n"
                            "33330000  a probe  done    2026-11-21 10:00     -          -\n");
}

/* A pager gets the table for its terminal. */
static void
test_terminal (void)
{
  static const char *const pagers[] = {"cat", "cat -u"};
  int code;
  make_store ();
  for (guint i = 0; i < G_N_ELEMENTS (pagers); i++) {
    g_autofree char *line = g_strdup_printf ("LIG_PAGER='%s' TERM=dumb lig runs list", pagers[i]);
    g_autofree char *narrow = type (line, "", 66, &code);
    g_assert_cmpint (code, ==, 0);
    assert_contains (narrow, "not shown at width 66: ");
    assert_contains (narrow,
                     "\r\n44440000  small    failed       2026-11-22 10:00      2          3\r\n");
    g_autofree char *wide = type (line, "", 200, &code);
    g_assert_null (strstr (wide, "not shown"));
    assert_contains (wide, "* keep\r\n");
  }
}

/* A long name is shortened before a column is omitted. */
static void
test_long_name (void)
{
  make_store ();
  g_auto (Outcome) renamed = shell (
    "python3 -c \"import sqlite3; c = sqlite3.connect ('runs.db'); c.execute ('UPDATE experiment"
    " SET name = ? WHERE id = 1', ('long' * 30,)); c.commit ()\"");
  g_assert_cmpint (renamed.code, ==, 0);
  g_auto (Outcome) usual = with_columns ("80", "lig runs list --limit 1");
  g_assert_true (g_regex_match_simple ("44440000  long[a-z]*…[a-z]*ong  ", usual.out, 0, 0));
  g_auto (GStrv) lines = g_strsplit (usual.out, "\n", -1);
  for (char **line = lines; *line; line++)
    g_assert_cmpint (g_utf8_strlen (*line, -1), <=, 80);
  g_auto (Outcome) pipe = with_columns (NULL, "lig runs list --limit 1");
  g_autofree char *name = g_strnfill (0, ' ');
  for (int i = 0; i < 30; i++) {
    g_autofree char *longer = g_strconcat (name, "long", NULL);
    g_free (name);
    name = g_steal_pointer (&longer);
  }
  assert_contains (pipe.out, name);
}

static void
test_json (void)
{
  make_store ();
  g_auto (Outcome) outcome =
    lig ("runs", "list", "--sort", "best-eval-loss", "--limit", "1", "--json", NULL);
  g_assert_cmpstr (text_at (outcome.json, "0.run"), ==, THIRD);
  g_assert_cmpfloat (json_node_get_double (at (outcome.json, "0.best_eval_loss")), ==, 0.3);
  g_assert_cmpfloat (json_node_get_double (at (outcome.json, "0.eval.loss")), ==, 0.44);
  g_assert_cmpfloat (json_node_get_double (at (outcome.json, "0.settings.lr")), ==, 0.01);
  g_assert_cmpint (int_at (outcome.json, "0.saved_step"), ==, 50);
  g_assert_true (json_node_is_null (at (outcome.json, "0.parent")));
}

/* Stars, tags and notes take several runs, by words or by options. */
static void
test_marks (void)
{
  make_store ();
  g_auto (Outcome) starred = lig ("runs", "star", "large", "last~2", NULL);
  g_assert_cmpint (starred.code, ==, 0);
  check ("--starred", "22220 11112 11110 ");
  g_auto (Outcome) unstarred = lig ("runs", "unstar", "--name", "small", NULL);
  g_assert_cmpint (unstarred.code, ==, 0);
  check ("--starred", "11112 ");
  g_auto (Outcome) tagged = lig ("runs", "tag", "large,2222", "good", "new", "--json", NULL);
  g_assert_cmpuint (length_at (tagged.json, "0.tags"), ==, 2);
  check ("--tag new", "22220 11112 ");
  g_auto (Outcome) untagged = lig ("runs", "tag", "large", "new", "--remove", NULL);
  check ("--tag new", "22220 ");
  g_auto (Outcome) noted = lig ("runs", "note", "large", "2222", "a note", NULL);
  g_assert_cmpint (noted.code, ==, 0);
  check ("'a note'", "22220 11112 ");
  g_auto (Outcome) wrong = lig ("runs", "star", "large", "nothing", "--json", NULL);
  assert_failed (&wrong, 1, "store", "has no run 'nothing'");
  g_auto (Outcome) none = lig ("runs", "star", "--json", NULL);
  assert_failed (&none, 2, "usage", "options such as --since or --all select runs");
  g_auto (Outcome) both = lig ("runs", "star", "large", "--all", "--json", NULL);
  assert_failed (&both, 2, "usage", "either by name or by options");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli-runs-list/sorted", test_sorted);
  g_test_add_func ("/cli-runs-list/filtered", test_filtered);
  g_test_add_func ("/cli-runs-list/dates", test_dates);
  g_test_add_func ("/cli-runs-list/words", test_words);
  g_test_add_func ("/cli-runs-list/parameters", test_parameters);
  g_test_add_func ("/cli-runs-list/columns", test_columns);
  g_test_add_func ("/cli-runs-list/width", test_width);
  g_test_add_func ("/cli-runs-list/terminal", test_terminal);
  g_test_add_func ("/cli-runs-list/long-name", test_long_name);
  g_test_add_func ("/cli-runs-list/json", test_json);
  g_test_add_func ("/cli-runs-list/marks", test_marks);
  return run_store_tests (argc, argv);
}
