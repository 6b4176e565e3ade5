/* SPDX-License-Identifier: MIT */
/* Spreads of figures in the store, and the step time that follows from them. */
#include "engine/store/writing.h"
#include "tests/store/case.h"
#include <ligature/store-spreads.h>

#include <math.h>

static void
test_round_trip (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  LigSpreadRow step = {"step", 15, 2000, 1900, 2200}, forward = {"forward", 4, 700, NAN, 800};
  g_assert_true (lig_store_put_spread (store, run, &step, &error));
  g_assert_true (lig_store_put_spread (store, run, &forward, &error));
  step.microseconds = 2100;
  g_assert_true (lig_store_put_spread (store, run, &step, &error));
  g_autoptr (GPtrArray) rows = lig_store_get_spreads (store, run, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, ==, 2);
  const LigSpreadRow *first = rows->pdata[0], *second = rows->pdata[1];
  g_assert_cmpstr (first->figure, ==, "forward");
  g_assert_true (isnan (first->lower));
  g_assert_cmpfloat (first->upper, ==, 800);
  g_assert_cmpstr (second->figure, ==, "step");
  g_assert_cmpint (second->count, ==, 15);
  g_assert_cmpfloat (second->microseconds, ==, 2100);
  g_assert_cmpfloat (second->lower, ==, 1900);
  g_assert_cmpfloat (second->upper, ==, 2200);
  g_assert_false (lig_store_put_spread (store, "no such run", &step, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_STORE);
  g_clear_error (&error);
  /* They are deleted with their run. */
  g_assert_true (lig_store_delete_runs (store, (const char *const *) &run, 1, &error));
  assert_query (f->path, "SELECT count (*) FROM spread", "0");
}

/* The step of a profile is the one that was measured, not the sum of its groups. */
static void
test_step_time (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  LigRunRecord record = example;
  LigSpreadRow step = {"step", 15, 3500, 3400, 3600};
  record.kind = "profile";
  g_autofree char *profile = lig_store_begin_run (store, &record, &error);
  lig_store_add_timing (store, profile, 0, 0, "forward", 1500, 0, 0);
  lig_store_add_timing (store, profile, 0, 0, "backward", 2500, 0, 0);
  g_assert_true (lig_store_put_spread (store, profile, &step, &error));
  g_assert_true (lig_store_finish_run (store, profile, "done", NULL, &error));
  g_autoptr (LigRunRow) row = find (store, profile);
  g_assert_cmpfloat (row->step_ms, ==, 3.5);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/store-spread/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("round-trip", test_round_trip);
  ADD ("step-time", test_step_time);
  return g_test_run ();
}
