/* SPDX-License-Identifier: MIT */
/* Long lists of runs: keys are filtered and sorted, rows are read by key, and changes of another
 * process are noticed. */
#include "engine/store/writing.h"
#include "tests/store/case.h"

#include <math.h>

#define MANY 100000

static GArray *
list (LigStore *store, const LigRunFilter *filter, LigRunOrder order, gboolean descending)
{
  g_autoptr (GError) error = NULL;
  GArray *keys = lig_store_list_keys (store, filter, order, descending, &error);
  g_assert_no_error (error);
  return keys;
}

static guint
count (LigStore *store, LigRunFilter filter)
{
  g_autoptr (GArray) keys = list (store, &filter, LIG_RUN_BY_START, TRUE);
  return keys->len;
}

/* Returns the names of the runs in order, joined. */
static char *
names (LigStore *store, LigRunOrder order, gboolean descending)
{
  g_autoptr (GArray) keys = list (store, NULL, order, descending);
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (store, (gint64 *) (gpointer) keys->data, keys->len, NULL);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < rows->len; i++)
    g_string_append (text, ((LigRunRow *) rows->pdata[i])->name);
  return g_string_free (text, FALSE);
}

static void
assert_order (LigStore *store, LigRunOrder order, gboolean descending, const char *expected)
{
  g_autofree char *found = names (store, order, descending);
  g_assert_cmpstr (found, ==, expected);
}

/* Adds three runs: `a` is the oldest, `b` has no loss, `c` is a profile. */
static void
fill (const char *path)
{
  {
    g_autoptr (LigStore) store = open_store (path);
    for (const char *name = "abc"; *name; name++) {
      const char text[] = {*name, '\0'};
      g_free (begin (store, text));
    }
  }
  execute (path, "UPDATE run SET status = 'done', started = id * 1000, ended = 9000 - id * 100;"
                 "UPDATE run SET last_loss = 3, last_step = 7, notes = 'Blue moon' WHERE id = 1;"
                 "UPDATE run SET status = 'failed', starred = 1, device = 'cuda:0' WHERE id = 2;"
                 "UPDATE run SET kind = 'profile', last_loss = 1, step_ms = 2 WHERE id = 3;"
                 "INSERT INTO tag VALUES (1, 'keep'), (2, 'keep'), (2, 'Baseline')");
}

static void
test_orders (Fixture *f, gconstpointer data)
{
  fill (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  assert_order (store, LIG_RUN_BY_START, TRUE, "cba");
  assert_order (store, LIG_RUN_BY_START, FALSE, "abc");
  assert_order (store, LIG_RUN_BY_NAME, TRUE, "cba");
  assert_order (store, LIG_RUN_BY_NAME, FALSE, "abc");
  assert_order (store, LIG_RUN_BY_DEVICE, TRUE, "bca");
  assert_order (store, LIG_RUN_BY_STATUS, TRUE, "bca");
  assert_order (store, LIG_RUN_BY_KIND, FALSE, "cba");
  assert_order (store, LIG_RUN_BY_STAR, TRUE, "bca");
  assert_order (store, LIG_RUN_BY_DURATION, FALSE, "cba");
  /* A run without a loss is last in both directions. */
  assert_order (store, LIG_RUN_BY_LOSS, FALSE, "cab");
  assert_order (store, LIG_RUN_BY_LOSS, TRUE, "acb");
  assert_order (store, LIG_RUN_BY_STEPS, FALSE, "acb");
  assert_order (store, LIG_RUN_BY_STEP_TIME, TRUE, "cba");
  assert_order (store, LIG_RUN_BY_NOTES, FALSE, "acb");
  for (int order = 0; order < LIG_RUN_N_ORDERS; order++) {
    g_autofree char *found = names (store, order, TRUE);
    g_assert_cmpuint (strlen (found), ==, 3);
  }
}

static void
test_filters (Fixture *f, gconstpointer data)
{
  fill (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  g_assert_cmpuint (count (store, (LigRunFilter){0}), ==, 3);
  g_assert_cmpuint (count (store, (LigRunFilter){.text = "blue"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.text = "baseline"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.text = "CUDA"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.text = "C"}), >=, 2);
  g_assert_cmpuint (count (store, (LigRunFilter){.text = "%"}), ==, 0);
  g_assert_cmpuint (count (store, (LigRunFilter){.status = "done"}), ==, 2);
  g_assert_cmpuint (count (store, (LigRunFilter){.device = "cuda:0"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.tag = "keep"}), ==, 2);
  g_assert_cmpuint (count (store, (LigRunFilter){.tag = "keep", .starred = TRUE}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.kind = "profile"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.started_from = 2000}), ==, 2);
  g_assert_cmpuint (count (store, (LigRunFilter){.started_to = 2000}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.limit = 2}), ==, 2);
  const LigRunFilter dates = {.kind = "train", .started_from = 2000, .started_to = 3000};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (store, &dates, NULL);
  g_assert_cmpuint (rows->len, ==, 1);
  g_assert_cmpuint (count (store, dates), ==, 1);
}

/* A run whose process is gone is `interrupted` even if it is stored as `running`. */
static void
test_gone (Fixture *f, gconstpointer data)
{
  fill (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *alive = begin (store, "d");
  execute (f->path, "UPDATE run SET status = 'running', heartbeat = 5 WHERE id = 1");
  g_assert_cmpuint (count (store, (LigRunFilter){.status = "running"}), ==, 1);
  g_assert_cmpuint (count (store, (LigRunFilter){.status = "interrupted"}), ==, 1);
  g_auto (GStrv) statuses = lig_store_list_values (store, "status", NULL);
  g_autofree char *joined = g_strjoinv (" ", statuses);
  g_assert_cmpstr (joined, ==, "done failed interrupted running");
  g_auto (GStrv) tags = lig_store_list_values (store, "tag", NULL);
  g_assert_cmpuint (g_strv_length (tags), ==, 2);
  g_auto (GStrv) kinds = lig_store_list_values (store, "kind", NULL);
  g_assert_cmpstr (kinds[1], ==, "train");
}

static void
test_read (Fixture *f, gconstpointer data)
{
  fill (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  const gint64 keys[] = {3, 99, 1};
  g_autoptr (GPtrArray) rows = lig_store_read_runs (store, keys, 3, NULL);
  g_assert_cmpuint (rows->len, ==, 3);
  g_assert_cmpstr (((LigRunRow *) rows->pdata[0])->name, ==, "c");
  g_assert_cmpfloat (((LigRunRow *) rows->pdata[0])->step_ms, ==, 2);
  g_assert_null (rows->pdata[1]);
  g_assert_cmpstr (((LigRunRow *) rows->pdata[2])->name, ==, "a");
  g_assert_true (isnan (((LigRunRow *) rows->pdata[2])->step_ms));
}

/* The step time is the median for a training run and the sum for a profile. */
static void
test_step_time (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "train");
  for (int i = 0; i < 3000; i++)
    lig_store_add_metric (store, run, i, "step-ms", i < 2000 ? 100 : i % 3);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_autoptr (LigRunRow) row = find (store, run);
  g_assert_cmpfloat (row->step_ms, ==, 1);
  LigRunRecord record = example;
  record.kind = "profile";
  g_autofree char *profile = lig_store_begin_run (store, &record, &error);
  lig_store_add_timing (store, profile, 0, 0, "forward", 1500, 0, 0);
  lig_store_add_timing (store, profile, 0, 0, "backward", 2500, 0, 0);
  g_assert_true (lig_store_finish_run (store, profile, "done", NULL, &error));
  g_autoptr (LigRunRow) profiled = find (store, profile);
  g_assert_cmpfloat (profiled->step_ms, ==, 4);
}

static void
test_version (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  fill (f->path);
  g_autoptr (LigStore) store = open_store (f->path);
  gint64 before = lig_store_get_data_version (store, &error);
  g_assert_no_error (error);
  g_assert_cmpint (before, !=, 0);
  g_assert_cmpint (lig_store_get_data_version (store, NULL), ==, before);
  execute (f->path, "UPDATE run SET notes = 'x' WHERE id = 1");
  gint64 after = lig_store_get_data_version (store, NULL);
  g_assert_cmpint (after, !=, before);
  g_free (begin (store, "own"));
  g_assert_cmpint (lig_store_get_data_version (store, NULL), !=, after);
}

/* --- 100,000 runs -------------------------------------------------------------------------- */

static double
time_list (LigStore *store, const LigRunFilter *filter, LigRunOrder order, guint expected)
{
  /* Other programs may use the CPU, so take the best of several tries. */
  double best = INFINITY;
  for (int i = 0; i < 10 && best > 0.1; i++) {
    gint64 start = g_get_monotonic_time ();
    g_autoptr (GArray) keys = list (store, filter, order, TRUE);
    best = fmin (best, (double) (g_get_monotonic_time () - start) / 1e6);
    g_assert_cmpuint (keys->len, ==, expected);
  }
  return best;
}

static void
test_many (Fixture *f, gconstpointer data)
{
  g_object_unref (open_store (f->path));
  execute (f->path, LIG_TEST_MANY_RUNS);
  g_autoptr (LigStore) store = open_store (f->path);
  for (int order = 0; order < LIG_RUN_N_ORDERS; order++) {
    double seconds = time_list (store, NULL, order, MANY);
    g_test_message ("order %d: %.0f ms", order, seconds * 1e3);
    g_assert_cmpfloat (seconds, <, 0.3 * lig_test_slowness ());
  }
  const LigRunFilter filters[] = {
    {.text = "mlp 777"}, {.status = "failed"}, {.device = "cuda:0"}, {.tag = "keep"}};
  const guint expected[] = {100, 20000, 50000, 10000};
  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    double seconds = time_list (store, &filters[i], LIG_RUN_BY_LOSS, expected[i]);
    g_test_message ("filter %u: %.0f ms", i, seconds * 1e3);
    g_assert_cmpfloat (seconds, <, 0.3 * lig_test_slowness ());
  }
  g_autoptr (GArray) keys = list (store, NULL, LIG_RUN_BY_START, TRUE);
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (store, &g_array_index (keys, gint64, MANY / 2), 200, NULL);
  double seconds = (double) (g_get_monotonic_time () - start) / 1e6;
  g_test_message ("200 rows: %.1f ms", seconds * 1e3);
  g_assert_cmpuint (rows->len, ==, 200);
  g_assert_cmpfloat (seconds, <, 0.05 * lig_test_slowness ());
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *name;
    void (*test) (Fixture *f, gconstpointer data);
  } tests[] = {
    {"/store-page/orders", test_orders},       {"/store-page/filters", test_filters},
    {"/store-page/gone", test_gone},           {"/store-page/read", test_read},
    {"/store-page/step-time", test_step_time}, {"/store-page/version", test_version},
    {"/store-page/many", test_many},
  };
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
