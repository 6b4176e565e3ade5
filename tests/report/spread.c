/* SPDX-License-Identifier: MIT */
/* Profiles have quartiles, counts and conditions, and reports of runs show what was recorded. */
#include "engine/train/profile-json.h"
#include "tests/report/report-case.h"
#include <ligature/draw.h>
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>
#include <ligature/store-spreads.h>

#include <json-glib/json-glib.h>
#include <math.h>

#define ROUNDS 9

static GPtrArray *
measure (LigStore *store)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigPlanOptions options[2] = {LIG_PLAN_OPTIONS_INIT, LIG_PLAN_OPTIONS_INIT};
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (64), G_GINT64_CONSTANT (32));
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("layer-norm ! linear(64) ! gelu ! linear(32)", &error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  options[0].policy = LIG_POLICY_NONE;
  options[1].policy = LIG_POLICY_ALL;
  GPtrArray *profiles =
    lig_profile_measure (sequence, device, options, G_N_ELEMENTS (options), ROUNDS, store, &error);
  g_assert_no_error (error);
  return profiles;
}

static void
assert_spread (const LigSpread *spread, double median)
{
  g_assert_cmpuint (spread->count, ==, ROUNDS);
  g_assert_cmpfloat (spread->median, ==, median);
  g_assert_cmpfloat (spread->lower, <=, spread->median);
  g_assert_cmpfloat (spread->upper, >=, spread->median);
}

/* The profile, the store and the documents have the same figures. */
static void
test_profile (Fixture *f, gconstpointer data)
{
  static const char *const members[] = {"forward_us", "step_us", "groups", "health", "conditions"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) profiles = measure (store);
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    LigSpread stored;
    assert_spread (&profile->forward_spread, profile->forward);
    assert_spread (&profile->backward_spread, profile->backward);
    assert_spread (&profile->forward_backward_spread, profile->forward_backward);
    assert_spread (&profile->step_spread, profile->step);
    g_assert_cmpfloat (profile->step, >, 0);
    g_assert_true (lig_profile_get_spread (store, profile->run, NULL, &stored, &error));
    g_assert_cmpuint (stored.count, ==, ROUNDS);
    g_assert_cmpfloat_with_epsilon (stored.lower, profile->step_spread.lower, 1e-12);
    g_assert_cmpfloat_with_epsilon (stored.upper, profile->step_spread.upper, 1e-12);
    g_assert_true (lig_profile_get_spread (store, profile->run, "forward", &stored, &error));
    g_assert_cmpfloat_with_epsilon (stored.median, profile->forward, 1e-12);
    /* The plan has no update, and nothing has another name. */
    g_assert_false (lig_profile_get_spread (store, profile->run, "update", &stored, &error));
    g_assert_no_error (error);
    g_autoptr (LigRunRow) row = find (store, profile->run);
    g_assert_cmpfloat_with_epsilon (row->step_ms, profile->step * 1e3, 1e-9);
    LigConditions conditions;
    g_assert_true (lig_profile_read_conditions (row->settings, &conditions));
    g_assert_cmpint (conditions.cpus, ==, (int) g_get_num_processors ());
    g_assert_true (conditions.synchronous);
    g_autoptr (JsonNode) json = lig_profile_to_json (profile);
    JsonObject *object = json_node_get_object (json);
    for (guint m = 0; m < G_N_ELEMENTS (members); m++)
      g_assert_true (json_object_has_member (object, members[m]));
    JsonObject *step =
      json_object_get_object_member (json_object_get_object_member (object, "spread"), "step");
    g_assert_cmpint (json_object_get_int_member (step, "count"), ==, ROUNDS);
    g_assert_cmpfloat (json_object_get_double_member (step, "median_us"), ==,
                       json_object_get_double_member (object, "step_us"));
  }
}

static void
put (
  LigStore *store, const char *run, const char *figure, double lower, double median, double upper)
{
  g_autoptr (GError) error = NULL;
  LigSpreadRow row = {(char *) figure, 15, median, lower, upper};
  g_assert_true (lig_store_put_spread (store, run, &row, &error));
}

/* Reports show the quartiles, and one sentence on the reason to doubt the times. */
static void
test_report (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  LigRunRecord record = example;
  record.kind = "profile";
  /* The number of CPUs is stored under the name that earlier versions used. */
  record.settings = "{\"conditions\": {\"processors\": 4, \"load\": 3.1, \"others\": 2.04,"
                    " \"shared\": null, \"synchronous\": true, \"clocks\": \"\"}}";
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  put (store, run, "forward", 690, 700, 720);
  put (store, run, "step", 1900, 2000, 2300);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_autofree char *text = report (store, run, "md"), *html = report (store, run, "html");
  g_autofree char *json = report (store, run, "json");
  assert_contains (text, "## Measured times");
  assert_contains (text, "| Whole step | 2.00 ms | 1.90 ms | 2.30 ms | 15 |");
  assert_contains (text, "These times are unreliable: other programs kept 2.0 of 4 CPUs busy; "
                         "the interquartile range of the steps is 20 % of their median.");
  g_assert_null (strstr (text, "synchronous"));
  assert_contains (html, "These times are unreliable:");
  g_autoptr (JsonNode) root = lig_json_from_text (json, &error);
  g_assert_no_error (error);
  JsonArray *spreads = json_object_get_array_member (json_node_get_object (root), "spreads");
  g_assert_cmpuint (json_array_get_length (spreads), ==, 2);
  g_assert_cmpfloat (
    json_object_get_double_member (json_array_get_object_element (spreads, 1), "upper_us"), ==,
    2300);
  /* Without a disturbance there is no such sentence. */
  record.settings = "{\"conditions\": {\"cpus\": 4, \"load\": 3.1, \"others\": 0.1}}";
  g_autofree char *quiet = lig_store_begin_run (store, &record, &error);
  put (store, quiet, "step", 1990, 2000, 2010);
  g_autofree char *plain = report (store, quiet, "md");
  assert_contains (plain, "## Measured times");
  g_assert_null (strstr (plain, "unreliable"));
}

/* The picture of a report has the times of its table. */
static void
test_picture (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = open_store (f->path);
  g_autoptr (GPtrArray) profiles = measure (store);
  const LigProfile *profile = profiles->pdata[1];
  g_autoptr (GError) error = NULL;
  LigSpread stored;
  /* The store has microseconds, whose last bit may differ, and with it a rounded third digit. */
  g_assert_true (lig_profile_get_spread (store, profile->run, "forward", &stored, &error));
  g_autofree char *html = report (store, profile->run, "html");
  g_autofree char *forward = lig_draw_time (stored.median);
  g_autofree char *heading = g_strdup_printf ("Forward · %s (groups by themselves", forward);
  assert_contains (html, heading);
}

/* Step times of a run are compared by the last thousand steps. */
static void
test_training (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigStore) store = open_store (f->path);
  g_autofree char *run = begin (store, "mlp");
  LigSpread spread;
  g_assert_false (lig_profile_get_spread (store, run, NULL, &spread, &error));
  g_assert_no_error (error);
  for (int i = 1; i <= 3000; i++)
    lig_store_add_metric (store, run, i, "step-ms", i <= 2000 ? 100 : 1 + i % 5);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
  g_assert_true (lig_profile_get_spread (store, run, "step", &spread, &error));
  g_assert_cmpuint (spread.count, ==, 1000);
  g_assert_cmpfloat_with_epsilon (spread.median, 3e-3, 1e-12);
  g_assert_cmpfloat_with_epsilon (spread.lower, 2e-3, 1e-12);
  g_assert_cmpfloat_with_epsilon (spread.upper, 4e-3, 1e-12);
  g_autofree char *text = report (store, run, "md");
  assert_contains (text, "| Whole step | 3.00 ms | 2.00 ms | 4.00 ms | 1000 |");
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/report-spread/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("profile", test_profile);
  ADD ("report", test_report);
  ADD ("picture", test_picture);
  ADD ("training", test_training);
  return g_test_run ();
}
