/* SPDX-License-Identifier: MIT */
/* The store with faults and large amounts of data: other processes, killed processes, a full disk,
 * many metrics and many runs. */
#include "engine/store/writing.h"
#include "tests/store/case.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char *
read_line (GSubprocess *child)
{
  g_autoptr (GDataInputStream) lines =
    g_data_input_stream_new (g_subprocess_get_stdout_pipe (child));
  char *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
  g_assert_nonnull (line);
  return line;
}

static double
get_seconds (void)
{
  return (double) g_get_monotonic_time () / G_USEC_PER_SEC;
}

/* Adds one metric per millisecond, whose value is the time, until it is killed. */
static int
child_write (const char *path)
{
  g_autoptr (LigStore) store = open_store (path);
  g_autofree char *run = begin (store, "child");
  printf ("%s\n", run);
  fflush (stdout);
  for (gint64 step = 0; step < G_MAXINT64; step++) {
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, get_seconds ());
    g_usleep (1000);
  }
  return 0;
}

static void
test_kill (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = spawn ("write", f->path);
  g_autofree char *run = read_line (child);
  g_usleep (2500000);
  {
    g_autoptr (LigStore) store = open_store (f->path);
    g_autoptr (LigRunRow) row = find (store, run);
    g_assert_cmpstr (row->status, ==, "running");
    g_assert_false (lig_store_resume_run (store, run, &error));
    g_assert_nonnull (strstr (error->message, "is running in process"));
    g_clear_error (&error);
  }
  double killed = get_seconds ();
  g_subprocess_force_exit (child);
  g_subprocess_wait (child, NULL, NULL);
  assert_query (f->path, "SELECT status FROM run", "running");

  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GArray) steps = NULL, values = NULL;
  g_assert_null (lig_store_get_warning (store));
  g_assert_true (lig_store_get_metric (store, run, LIG_METRIC_LOSS, &steps, &values, &error));
  g_assert_cmpuint (steps->len, >, 0);
  double last = g_array_index (values, double, values->len - 1);
  g_test_message ("%u metrics, the last %.3f s before the end", values->len, killed - last);
  g_assert_cmpfloat (killed - last, <, 1);
  g_assert_cmpint (g_array_index (steps, gint64, steps->len - 1), ==, steps->len - 1);
  assert_query (f->path, "SELECT status FROM run", "interrupted");

  g_assert_true (lig_store_resume_run (store, run, &error));
  g_autoptr (LigRunRow) row = find (store, run);
  g_assert_cmpstr (row->status, ==, "running");
  g_assert_cmpint (row->ended, ==, 0);
}

/* A run with an old heartbeat is read as interrupted although it is stored as running. A process
 * that is alive marks it as running again. */
static void
test_silent (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) reader = open_store (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "silent");
  g_usleep (300000);
  execute (f->path, "UPDATE run SET heartbeat = heartbeat - 61000000");
  g_autoptr (LigRunRow) row = find (reader, run);
  g_assert_cmpstr (row->status, ==, "interrupted");
  const LigRunFilter filter = {.status = "interrupted"};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (reader, &filter, NULL);
  g_assert_cmpuint (rows->len, ==, 1);
  g_object_unref (open_store (f->path));
  assert_query (f->path, "SELECT status FROM run", "interrupted");
  g_usleep (6000000);
  g_autoptr (LigRunRow) alive = find (reader, run);
  g_assert_cmpstr (alive->status, ==, "running");
  /* For a process on another machine only the heartbeat counts. */
  execute (f->path, "UPDATE run SET boot = 'elsewhere', pid = 1, process_start = 1");
  g_autoptr (LigRunRow) elsewhere = find (reader, run);
  g_assert_cmpstr (elsewhere->status, ==, "running");
}

#define SHARE 20000

static int
child_many (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (path);
  for (int i = 0; i < 20; i++) {
    g_autofree char *run = begin (store, "shared");
    for (int step = 0; step < SHARE / 20; step++)
      lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, step);
    lig_store_finish_run (store, run, "done", NULL, &error);
    g_assert_no_error (error);
  }
  return 0;
}

/* Three processes create the same file and write to it. */
static void
test_two_writers (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) one = spawn ("many", f->path);
  g_autoptr (GSubprocess) two = spawn ("many", f->path);
  g_assert_cmpint (child_many (f->path), ==, 0);
  g_assert_true (g_subprocess_wait_check (one, NULL, NULL));
  g_assert_true (g_subprocess_wait_check (two, NULL, NULL));
  assert_query (f->path, "SELECT count (*) FROM run WHERE status = 'done'", "60");
  assert_query (f->path, "SELECT count (*) FROM experiment", "1");
  assert_query (f->path, "SELECT count (*) FROM metric", G_STRINGIFY (60000));
  assert_query (f->path, "SELECT min (last_step) FROM run", "999");
  assert_query (f->path, "PRAGMA integrity_check", "ok");
}

static int
child_full (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (path);
  g_autofree char *run = begin (store, "full");
  struct rlimit limit;
  /* With SIGXFSZ ignored, a write beyond the limit fails as on a full disk. */
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 400000;
  setrlimit (RLIMIT_FSIZE, &limit);
  for (int step = 0; step < SHARE; step++)
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, step);
  g_assert_false (lig_store_flush (store, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, path));
  printf ("%s\n", error->message);
  g_clear_error (&error);
  g_assert_false (lig_store_finish_run (store, run, "done", NULL, &error));
  g_clear_error (&error);
  /* With free space again, all rows are written. */
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
  g_assert_true (lig_store_flush (store, &error));
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_assert_no_error (error);
  return 0;
}

static void
test_full (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) child = spawn ("full", f->path);
  g_autofree char *message = read_line (child);
  g_test_message ("%s", message);
  g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
  assert_query (f->path, "PRAGMA integrity_check", "ok");
  assert_query (f->path, "SELECT count (*) FROM metric", G_STRINGIFY (20000));
  assert_query (f->path, "SELECT status FROM run", "done");
}

#define FLOOD 1500000

/* While nothing can be written, more values are added than may wait, and a flush returns the error.
 * Then writing works again. */
static int
child_flood (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (path);
  g_autofree char *run = begin (store, "flood");
  struct rlimit limit;
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 400000;
  setrlimit (RLIMIT_FSIZE, &limit);
  for (int step = 1; step <= FLOOD; step++) {
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, step);
    if (step % 10000 == 0)
      lig_store_add_metric (store, run, step, LIG_METRIC_EVAL_LOSS, step);
  }
  g_assert_false (lig_store_flush (store, NULL));
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
  lig_store_flush (store, NULL);
  g_assert_true (lig_store_flush (store, &error));
  g_assert_false (lig_store_finish_run (store, run, "done", NULL, &error));
  printf ("%s\n", error->message);
  return 0;
}

static void
test_flood (Fixture *f, gconstpointer data)
{
  g_autoptr (GSubprocess) child = spawn ("flood", f->path);
  g_autofree char *message = read_line (child);
  g_test_message ("%s", message);
  g_assert_true (g_subprocess_wait_check (child, NULL, NULL));
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (LigRunRow) row = lig_store_find_run (store, "last", NULL);
  g_autoptr (GArray) steps = NULL, values = NULL;
  g_assert_cmpstr (row->status, ==, "failed");
  g_assert_cmpstr (row->message, ==, message);
  g_assert_true (lig_store_get_metric (store, row->uuid, LIG_METRIC_LOSS, &steps, &values, NULL));
  g_assert_cmpuint (steps->len, >, FLOOD / 16);
  g_assert_cmpuint (steps->len, <, FLOOD);
  for (guint i = 1; i < steps->len; i++)
    g_assert_cmpint (g_array_index (steps, gint64, i) - g_array_index (steps, gint64, i - 1), <=,
                     16);
  g_assert_cmpint (g_array_index (steps, gint64, steps->len - 1), ==, FLOOD);
  g_assert_cmpint (g_array_index (steps, gint64, steps->len - 10000), ==, FLOOD - 9999);
  g_autofree char *digits = g_strdup_printf ("%u", FLOOD - steps->len);
  g_auto (GStrv) parts = g_strsplit (message, ",", -1);
  g_autofree char *joined = g_strjoinv ("", parts);
  g_assert_nonnull (strstr (joined, digits));
  g_assert_nonnull (strstr (message, "values are missing from the store"));
  assert_query (f->path, "SELECT count (*) FROM metric WHERE name = 'eval-loss'", "150");
}

/* Adding 100,000 metrics takes the caller little time, and all are stored. */
static void
test_cost (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "fast");
  double worst = 0, begun = get_seconds ();
  for (int step = 0; step < 50000; step++) {
    double before = get_seconds ();
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, step);
    lig_store_add_metric (store, run, step, "rate", step);
    worst = MAX (worst, get_seconds () - before);
  }
  double taken = get_seconds () - begun;
  g_test_message ("100,000 metrics took the caller %.1f ms, worst pair %.2f ms", taken * 1e3,
                  worst * 1e3);
  g_assert_cmpfloat (taken, <, 0.25 * lig_test_slowness ());
  g_assert_true (lig_store_flush (store, &error));
  g_test_message ("on disk after %.0f ms", (get_seconds () - begun) * 1e3);
  assert_query (f->path, "SELECT count (*) FROM metric", "100000");
}

static gpointer
add_from_thread (gpointer data)
{
  LigStore *store = data;
  g_autofree char *run = begin (store, "thread");
  for (int step = 0; step < 5000; step++)
    lig_store_add_metric (store, run, step, LIG_METRIC_LOSS, step);
  g_assert_true (lig_store_flush (store, NULL));
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, NULL));
  return NULL;
}

/* Many threads write to one store while another reads; closing the store writes the queued rows. */
static void
test_threads (Fixture *f, gconstpointer data)
{
  LigStore *store = open_store (f->path);
  GThread *threads[4];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("writer", add_from_thread, store);
  for (int i = 0; i < 20; i++) {
    g_autoptr (GPtrArray) runs = lig_store_list_runs (store, NULL, NULL);
    g_assert_nonnull (runs);
    g_usleep (5000);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_autofree char *run = begin (store, "left");
  lig_store_add_metric (store, run, 0, LIG_METRIC_LOSS, 1);
  g_assert_finalize_object (store);
  assert_query (f->path, "SELECT count (*) FROM metric", "20001");
}

static void
test_many_runs (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "many");
  execute (
    f->path,
    "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
    " INSERT INTO run (uuid, experiment, kind, device, dtype, recipe, policy, seed, settings,"
    " versions, status, started, ended, host, boot, pid, process_start, heartbeat, last_loss)"
    " SELECT lower (hex (randomblob (18))), 1, kind, device, dtype, recipe, policy, i, settings,"
    " versions, 'done', i, i, host, boot, pid, process_start, i, 1.5 FROM run, n"
    " WHERE run.id = 1; INSERT INTO tag SELECT id, 'bulk' FROM run");
  g_autoptr (GPtrArray) runs = NULL;
  double taken = G_MAXDOUBLE;
  /* Other work takes caches and memory bandwidth from this, so the best of a few counts. */
  for (int i = 0; i < 5 && taken >= 1.0 * SLOWNESS; i++) {
    double begun = (double) clock () / CLOCKS_PER_SEC;
    g_clear_pointer (&runs, g_ptr_array_unref);
    runs = lig_store_list_runs (store, NULL, &error);
    taken = MIN (taken, (double) clock () / CLOCKS_PER_SEC - begun);
    g_assert_no_error (error);
  }
  g_test_message ("listing 100,000 runs took %.0f ms of a CPU", taken * 1e3);
  g_assert_cmpuint (runs->len, ==, 100000);
  g_assert_cmpstr (((LigRunRow *) runs->pdata[0])->uuid, ==, run);
  g_assert_cmpint (((LigRunRow *) runs->pdata[99999])->started, ==, 1);
  g_assert_cmpfloat (taken, <, 1 * lig_test_slowness ());
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *mode;
    int (*run) (const char *path);
  } modes[] = {
    {"write", child_write}, {"many", child_many}, {"full", child_full}, {"flood", child_flood}};
  program = argv[0];
  for (guint i = 0; argc == 4 && i < G_N_ELEMENTS (modes); i++)
    if (strcmp (argv[2], modes[i].mode) == 0)
      return modes[i].run (argv[3]);
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    {"/store/fault/kill", test_kill},
    {"/store/fault/silent", test_silent},
    {"/store/fault/two-writers", test_two_writers},
    {"/store/fault/full-disk", test_full},
    {"/store/fault/flood", test_flood},
    {"/store/load/cost", test_cost},
    {"/store/load/threads", test_threads},
    {"/store/load/many-runs", test_many_runs},
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
