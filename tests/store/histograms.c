/* SPDX-License-Identifier: MIT */
/* Histograms in the store: what is written is read, in the order of the ops, thinned if there are
 * many, and deleted with the run. */
#include "tests/store/case.h"
#include <ligature/store-histograms.h>

#include <math.h>

/* Returns a histogram that differs for each number. */
static LigHistogram
make (int number)
{
  const float values[] = {0.25f * (float) (number + 1), -3, 0, 1e-20f, NAN, INFINITY};
  LigHistogram histogram;
  lig_histogram_init (&histogram);
  lig_histogram_add (&histogram, values, G_N_ELEMENTS (values));
  return histogram;
}

/* Adds the weights and gradients of two parameters, in an order that is not that of the alphabet.
 */
static void
add (LigStore *store, const char *run, gint64 step)
{
  g_autoptr (GError) error = NULL;
  LigHistogram histograms[4];
  LigHistogramEntry entries[4];
  for (int i = 0; i < 4; i++) {
    histograms[i] = make ((int) step * 4 + i);
    entries[i] = (LigHistogramEntry){i < 2 ? "2.weight" : "10.weight", i % 2, &histograms[i]};
  }
  lig_store_add_histograms (store, run, step, entries, 4, &error);
  g_assert_no_error (error);
}

static GPtrArray *
read_all (LigStore *store, const char *run, const char *parameter, guint max)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *all = lig_store_get_histograms (store, run, parameter, max, &error);
  g_assert_no_error (error);
  return all;
}

static void
assert_row (const LigHistogramSeries *series, guint i, gint64 step, int number)
{
  LigHistogram expected = make (number);
  const LigHistogram *found = &g_array_index (series->histograms, LigHistogram, i);
  g_assert_cmpint (g_array_index (series->steps, gint64, i), ==, step);
  g_assert_cmpmem (found, sizeof *found, &expected, sizeof expected);
}

static void
test_round_trip (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp"), *other = begin (store, "other");
  add (store, run, 20);
  add (store, run, 10);
  add (store, run, 20);
  g_auto (GStrv) paths = lig_store_list_histograms (store, run, &error);
  g_assert_no_error (error);
  g_assert_cmpstrv (paths, ((const char *const[]){"2.weight", "10.weight", NULL}));
  g_autoptr (GPtrArray) all = read_all (store, run, NULL, 0);
  g_assert_cmpuint (all->len, ==, 4);
  for (guint i = 0; i < 4; i++) {
    const LigHistogramSeries *series = all->pdata[i];
    g_assert_cmpstr (series->parameter, ==, i < 2 ? "2.weight" : "10.weight");
    g_assert_cmpint (series->gradient, ==, (int) i % 2);
    g_assert_cmpuint (series->steps->len, ==, 2);
    assert_row (series, 0, 10, 40 + (int) i);
    assert_row (series, 1, 20, 80 + (int) i);
  }
  g_autoptr (GPtrArray) one = read_all (store, run, "10.weight", 0);
  g_assert_cmpuint (one->len, ==, 2);
  g_autoptr (GPtrArray) none = read_all (store, run, "3.weight", 0);
  g_assert_cmpuint (none->len, ==, 0);
  /* A run without histograms, and one that does not exist. */
  g_auto (GStrv) without = lig_store_list_histograms (store, other, &error);
  g_assert_cmpuint (g_strv_length (without), ==, 0);
  LigHistogram histogram = make (1);
  LigHistogramEntry entry = {"a", FALSE, &histogram};
  g_assert_false (lig_store_add_histograms (store, "no such run", 1, &entry, 1, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_assert_nonnull (strstr (error->message, "no such run"));
  g_clear_error (&error);
  /* They stay in the trash, and are deleted with their run. */
  assert_query (f->path, "SELECT count (*) FROM histogram", "8");
  assert_query (f->path, "SELECT sum (elements) FROM histogram WHERE step = 10", "24");
  assert_query (f->path, "SELECT sum (zeros + nan + infinite) FROM histogram WHERE step = 10",
                "12");
  g_assert_true (lig_store_delete_runs (store, (const char *const *) &run, 1, &error));
  assert_query (f->path, "SELECT count (*) FROM histogram", "0");
}

/* Of many steps, evenly chosen ones are read, the newest among them. */
static void
test_thinned (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  for (gint64 step = 1; step <= 100; step++)
    add (store, run, 10 * step);
  static const guint limits[] = {1, 7, 99, 100, 1000};
  for (guint k = 0; k < G_N_ELEMENTS (limits); k++) {
    guint expected = MIN (limits[k], 100);
    g_autoptr (GPtrArray) all = read_all (store, run, NULL, limits[k]);
    g_assert_cmpuint (all->len, ==, 4);
    for (guint i = 0; i < 4; i++) {
      const LigHistogramSeries *series = all->pdata[i];
      g_assert_cmpuint (series->steps->len, ==, expected);
      assert_row (series, expected - 1, 1000, 4000 + (int) i);
      for (guint n = 1; n < expected; n++) {
        gint64 gap =
          g_array_index (series->steps, gint64, n) - g_array_index (series->steps, gint64, n - 1);
        g_assert_cmpint (gap, >=, 10 * (100 / expected));
        g_assert_cmpint (gap, <=, 10 * (100 / expected + 1));
      }
    }
  }
}

/* A store that another program wrote to is an error, not a crash. */
static void
test_damaged (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  static const char *const bins[] = {"x'8080'", "''", "'text'", "x'000000000000'", "12"};
  for (guint i = 0; i < G_N_ELEMENTS (bins); i++) {
    add (store, run, 1);
    g_autofree char *sql = g_strdup_printf (
      "UPDATE histogram SET bins = %s, zeros = -5, mean = 'much' WHERE number = 1", bins[i]);
    execute (f->path, sql);
    g_assert_null (lig_store_get_histograms (store, run, NULL, 0, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    g_clear_error (&error);
  }
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/store-histograms/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("round-trip", test_round_trip);
  ADD ("thinned", test_thinned);
  ADD ("damaged", test_damaged);
  return g_test_run ();
}
