/* SPDX-License-Identifier: MIT */
/* Loads of experts in the store: what is written is read, in the order of the ops, and deleted with
 * the run; their figures. */
#include "tests/store/case.h"
#include <ligature/store-loads.h>

#include <math.h>

/* Adds the loads of two routers, in an order that is not that of the alphabet. */
static void
add (LigStore *store, const char *run, gint64 step)
{
  g_autoptr (GError) error = NULL;
  const double first[] = {(double) step, 0, 30}, second[] = {4, 4};
  const LigLoadEntry entries[] = {{"2.0.0", 3, first, 1.25, 0.5, (double) step / 10},
                                  {"10", 2, second, 1, NAN, 0}};
  lig_store_add_loads (store, run, step, entries, G_N_ELEMENTS (entries), &error);
  g_assert_no_error (error);
}

static GPtrArray *
read_all (LigStore *store, const char *run)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *all = lig_store_get_loads (store, run, &error);
  g_assert_no_error (error);
  return all;
}

static void
test_round_trip (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mixture"), *other = begin (store, "other");
  LigLoadFigures figures;
  double load[3];
  add (store, run, 20);
  add (store, run, 10);
  add (store, run, 20);
  g_autoptr (GPtrArray) all = read_all (store, run);
  g_assert_cmpuint (all->len, ==, 2);
  const LigLoadSeries *one = all->pdata[0], *two = all->pdata[1];
  g_assert_cmpstr (one->path, ==, "2.0.0");
  g_assert_cmpstr (two->path, ==, "10");
  g_assert_cmpuint (one->experts, ==, 3);
  g_assert_cmpuint (one->steps->len, ==, 2);
  g_assert_cmpint (g_array_index (one->steps, gint64, 0), ==, 10);
  g_assert_cmpfloat (g_array_index (one->balance, double, 1), ==, 1.25);
  g_assert_true (isnan (g_array_index (two->z, double, 0)));
  lig_load_series_sum (one, 0, G_MAXUINT, load, &figures);
  g_assert_true (load[0] == 30 && load[1] == 0 && load[2] == 60);
  g_assert_true (figures.rows == 90 && figures.imbalance == 2 && figures.busiest == 2 &&
                 figures.idle == 1 && figures.dropped == 3);
  g_assert_cmpfloat (lig_load_series_last (one->balance), ==, 1.25);
  g_assert_cmpfloat (lig_load_series_last (one->dropped), ==, 2);
  lig_load_series_sum (two, 0, G_MAXUINT, load, &figures);
  g_assert_true (figures.imbalance == 1 && figures.idle == 0 && figures.dropped == 0);
  lig_load_series_sum (one, 1, 1, load, NULL);
  g_assert_true (load[0] == 20 && load[2] == 30);
  lig_load_series_sum (one, 7, 1, load, &figures);
  g_assert_true (figures.idle == 3 && isnan (figures.imbalance));
  g_autoptr (GPtrArray) none = read_all (store, other);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_false (lig_store_add_loads (store, "no such run", 1, NULL, 0, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  assert_query (f->path,
                "SELECT loads || '|' || dropped FROM expert_load WHERE number = 0 AND step = 10",
                "[10,0,30]|1");
  g_clear_error (&error);
  g_assert_true (lig_store_delete_runs (store, (const char *const *) &run, 1, &error));
  assert_query (f->path, "SELECT count (*) FROM expert_load", "0");
}

/* A store that another program wrote to is an error, not a crash. */
static void
test_damaged (Fixture *f, gconstpointer data)
{
  static const char *const loads[] = {"''", "'[]'", "'[1,2]'", "'{}'", "x'00'", "'[1,2,3'"};
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mixture");
  for (guint i = 0; i < G_N_ELEMENTS (loads); i++) {
    g_autoptr (GError) error = NULL;
    add (store, run, 1);
    add (store, run, 2);
    g_autofree char *sql = g_strdup_printf (
      "UPDATE expert_load SET loads = %s, z = 'much' WHERE number = 0 AND step = 2", loads[i]);
    execute (f->path, sql);
    g_assert_null (lig_store_get_loads (store, run, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
    g_test_message ("%s", error->message);
  }
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/store-loads/round-trip", Fixture, NULL, set_up, test_round_trip, tear_down);
  g_test_add ("/store-loads/damaged", Fixture, NULL, set_up, test_damaged, tear_down);
  return g_test_run ();
}
