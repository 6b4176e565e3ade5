/* SPDX-License-Identifier: MIT */
/* Runs of mixtures of experts: the recorded loads and dropped rows against the routers of the
 * trained model, the same losses with and without records, with recomputation and accumulation;
 * profiles with a given load. Corrections that
 * balance the load, make it more even; checkpoints keep them in fp32 and without optimizer state,
 * and a run continues with them. */
#include "engine/program/fill.h"
#include "tests/train/case.h"
#include <ligature/plan-options.h>
#include <ligature/profile.h>
#include <ligature/program.h>
#include <ligature/state.h>
#include <ligature/store-loads.h>

#define MODEL \
  "embedding(16) ! mixture-of-experts(6, expert-features=8, aux=0.05, z=0.01) ! layer-norm ! " \
  "mixture-of-experts(4, top-k=1, score=sigmoid, normalize=false) ! linear(256) ! cross-entropy"

static const char text[] = "Experts share the work: each token selects some of them, and their "
                           "outputs are summed with the weights of the router. A text is enough "
                           "to show whether each of them has something to do in a small model.";

#define LIMITED \
  "embedding(16) ! mixture-of-experts(6, expert-features=8, capacity=0.75) ! layer-norm ! " \
  "mixture-of-experts(4, top-k=1, score=sigmoid, normalize=false, capacity=1.3) ! linear(256) ! " \
  "cross-entropy"

/* Trains a model; returns the run's uuid and the losses of its steps. */
static char *
train_model (Fixture *f, const char *model, const char *assignments, GArray **losses)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = write_data (f, "text", "experts.txt", text, -1);
  g_autofree char *settings =
    g_strconcat ("steps=12 lr=0.01 batch=4 policy=none ", assignments, NULL);
  g_autoptr (LigRun) run = try_run (f, model, "4x16:int32", file, settings, NULL, &error);
  g_assert_no_error (error);
  LigRunProgress progress = finish (run);
  g_assert_cmpint (progress.status, ==, LIG_RUN_DONE);
  g_assert_null (lig_run_dup_problem (run));
  g_autoptr (GPtrArray) metrics = lig_store_get_metrics (f->store, lig_run_get_uuid (run), &error);
  for (guint i = 0; i < metrics->len && losses; i++) {
    const LigMetricRow *metric = metrics->pdata[i];
    if (g_str_equal (metric->name, "loss"))
      *losses = g_array_copy (metric->values);
  }
  return g_strdup (lig_run_get_uuid (run));
}

static char *
train_mixture (Fixture *f, const char *assignments, GArray **losses)
{
  return train_model (f, MODEL, assignments, losses);
}

static GPtrArray *
read_loads (Fixture *f, const char *run)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *all = lig_store_get_loads (f->store, run, &error);
  g_assert_no_error (error);
  return all;
}

/* Each token selects as many experts as the router says, whatever the run's settings. */
static void
test_records (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *settings;
    guint steps;
  } cases[] = {{"load-every=5", 3},
               {"load-every=4 recompute=all", 3},
               {"load-every=6 accumulate=2", 2},
               {"load-every=1", 12},
               {"load-every=0", 0}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *run = train_mixture (f, cases[i].settings, NULL);
    g_autoptr (GPtrArray) all = read_loads (f, run);
    g_test_message ("%s", cases[i].settings);
    g_assert_cmpuint (all->len, ==, cases[i].steps > 0 ? 2 : 0);
    for (guint k = 0; k < all->len; k++) {
      const LigLoadSeries *series = all->pdata[k];
      g_assert_cmpuint (series->steps->len, ==, cases[i].steps);
      g_assert_cmpstr (series->path, ==, k ? "3" : "1");
      g_assert_cmpuint (series->experts, ==, k ? 4 : 6);
      for (guint step = 0; step < cases[i].steps; step++) {
        LigLoadFigures figures;
        double load[6];
        lig_load_series_sum (series, step, 1, load, &figures);
        g_assert_cmpfloat (figures.rows, ==, k ? 64 : 128);
        g_assert_cmpfloat (g_array_index (series->balance, double, step), >, 0.5);
      }
    }
  }
}

/* Returns the rows beyond the capacity of the experts of a router in a recorded step. */
static double
count_dropped (const LigLoadSeries *series, guint step, double capacity)
{
  double load[6], dropped = 0;
  LigLoadFigures figures;
  lig_load_series_sum (series, step, 1, load, &figures);
  for (guint e = 0; e < series->experts; e++)
    dropped += MAX (load[e] - ceil (capacity * figures.rows / series->experts), 0);
  g_assert_cmpfloat (figures.dropped, ==, dropped);
  return dropped;
}

/* Dropped rows are counted for each router, and for all of them in a metric. */
static void
test_dropped (Fixture *f, gconstpointer data)
{
  static const char *const settings[] = {"load-every=4", "load-every=4 recompute=all",
                                         "load-every=4 accumulate=2 policy=all"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GArray) steps = NULL, values = NULL;
    double total = 0;
    g_autofree char *run = train_model (f, LIMITED, settings[i], NULL);
    g_autoptr (GPtrArray) all = read_loads (f, run);
    lig_store_get_metric (f->store, run, "dropped-rows", &steps, &values, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (all->len, ==, 2);
    g_assert_cmpuint (values->len, ==, 3);
    for (guint step = 0; step < 3; step++) {
      double both =
        count_dropped (all->pdata[0], step, 0.75) + count_dropped (all->pdata[1], step, 1.3);
      g_assert_cmpfloat (g_array_index (values, double, step), ==, both);
      total += both;
    }
    g_assert_cmpfloat (total, >, 3 * 32);
  }
}

/* The metric needs a capacity. */
static void
test_dropless (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) steps = NULL, values = NULL;
  g_autofree char *run = train_mixture (f, "load-every=4", NULL);
  lig_store_get_metric (f->store, run, "dropped-rows", &steps, &values, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (values->len, ==, 0);
}

/* Reading the values changes no loss, and neither does recomputation. */
static void
test_same_losses (Fixture *f, gconstpointer data)
{
  static const char *const others[] = {"load-every=1", "load-every=5 recompute=all",
                                       "load-every=0 recompute=all"};
  g_autoptr (GArray) want = NULL;
  g_autofree char *run = train_mixture (f, "load-every=0", &want);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GArray) got = NULL;
    g_autofree char *other = train_mixture (f, others[i], &got);
    g_assert_cmpmem (got->data, got->len * sizeof (double), want->data,
                     want->len * sizeof (double));
  }
}

/* --- Balance ------------------------------------------------------------------------------- */

/* Routers whose corrections balance the load of their experts. */

#define BALANCED(balance) \
  "embedding(16) ! transformer-layer(2, experts=6, expert-features=8, activation=swiglu, " \
  "router-score=sigmoid, balance=" balance ") ! layer-norm ! linear(256) ! cross-entropy"
#define CORRECTION "1.router.correction"

static char *
write_rows (Fixture *f)
{
  g_autoptr (GString) rows = g_string_new (NULL);
  for (int i = 0; i < 200; i++)
    g_string_append_printf (rows, "Row %d of %d goes to expert %d. ", i, i * i, i * 5 % 7);
  return write_data (f, "text", "rows.txt", rows->str, -1);
}

static LigRun *
begin (Fixture *f, const char *model, const char *assignments)
{
  g_autofree char *data = write_rows (f);
  g_autofree char *settings = g_strconcat ("lr=0.01 batch=4 ", assignments, NULL);
  g_autoptr (GError) error = NULL;
  LigRun *run = try_run (f, model, "4x16:int32", data, settings, NULL, &error);
  g_assert_no_error (error);
  return run;
}

static LigTensor *
read_correction (const char *checkpoint)
{
  g_autoptr (LigTensorFile) file = load_tensors (checkpoint);
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++)
    g_assert_false (g_str_has_prefix (*name, "optimizer.") && strstr (*name, CORRECTION));
  return get_tensor (file, CORRECTION);
}

/* Returns the imbalance of the last half of the steps. */
static double
train_imbalance (Fixture *f, const char *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = begin (f, model, "steps=120 load-every=1");
  g_assert_cmpint (finish (run).status, ==, LIG_RUN_DONE);
  g_autoptr (GPtrArray) all = lig_store_get_loads (f->store, lig_run_get_uuid (run), &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 1);
  LigLoadFigures figures;
  double load[6], sum = 0;
  for (guint step = 60; step < 120; step++) {
    lig_load_series_sum (all->pdata[0], step, 1, load, &figures);
    sum += figures.imbalance;
  }
  return sum / 60;
}

static void
test_imbalance (Fixture *f, gconstpointer data)
{
  double without = train_imbalance (f, BALANCED ("0")),
         with = train_imbalance (f, BALANCED ("0.02"));
  g_test_message ("%g without balance, %g with it", without, with);
  g_assert_cmpfloat (with, <, 1.9);
  g_assert_cmpfloat (without, >, with + 0.5);
}

/* Each update moves each correction by one step, or leaves it. The first one starts at zero. */
static void
test_steps (Fixture *f, gconstpointer data)
{
  static const char *const types[] = {"fp32", "bf16:bf16", "fp16:fp16"};
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autofree char *settings = g_strdup_printf ("steps=1 dtype=%s", types[i]);
    g_autoptr (LigRun) run = begin (f, BALANCED ("0.001"), settings);
    g_assert_cmpint (finish (run).status, ==, LIG_RUN_DONE);
    g_autoptr (LigTensor) correction = read_correction (lig_run_get_checkpoint (run));
    double up = 0, down = 0;
    g_assert_cmpint (correction->dtype, ==, LIG_FP32);
    for (gint64 e = 0; e < correction->size; e++) {
      double value = lig_tensor_get (correction, e);
      g_assert_true (value == 0 || fabs (value) == (double) 0.001f);
      up += value > 0;
      down += value < 0;
    }
    g_assert_true (up > 0 && down > 0);
  }
}

/* A frozen correction stays as it is. */
static void
test_frozen (Fixture *f, gconstpointer data)
{
  static const char *const settings[] = {"steps=5 freeze=*.correction", "steps=5 freeze=1.*"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autoptr (LigRun) run = begin (f, BALANCED ("0.1"), settings[i]);
    g_assert_cmpint (finish (run).status, ==, LIG_RUN_DONE);
    g_autoptr (LigTensor) correction = read_correction (lig_run_get_checkpoint (run));
    for (gint64 e = 0; e < correction->size; e++)
      g_assert_cmpfloat (lig_tensor_get (correction, e), ==, 0);
  }
}

/* A run that continues from a checkpoint trains what an uninterrupted one does, to the last bit;
 * recomputation changes nothing. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  g_autofree char *half = g_strconcat (data, " steps=8", NULL);
  g_autofree char *whole = g_strconcat (data, " steps=16", NULL);
  g_autofree char *recomputed = g_strconcat (whole, " recompute=all", NULL);
  const char *const overrides[] = {"steps=16", NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) first = begin (f, BALANCED ("0.02"), whole);
  g_autoptr (LigRun) again = begin (f, BALANCED ("0.02"), recomputed);
  g_autoptr (LigRun) part = begin (f, BALANCED ("0.02"), half);
  finish (first);
  finish (again);
  finish (part);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (part));
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (part));
  g_clear_object (&part);
  g_autoptr (LigRun) rest = lig_run_resume (checkpoint, f->device, overrides, f->store, &error);
  g_assert_no_error (error);
  g_assert_cmpint (finish (rest).status, ==, LIG_RUN_DONE);
  assert_same_metric (f, lig_run_get_uuid (first), uuid, LIG_METRIC_LOSS, 16);
  assert_same_metric (f, lig_run_get_uuid (first), uuid, "gradient-norm", 16);
  assert_same_metric (f, lig_run_get_uuid (first), lig_run_get_uuid (again), LIG_METRIC_LOSS, 16);
  assert_same_tensors (lig_run_get_checkpoint (first), checkpoint);
  assert_same_tensors (lig_run_get_checkpoint (first), lig_run_get_checkpoint (again));
}

/* Histograms and validation omit a parameter without a gradient. */
static void
test_histograms (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) plain = begin (f, BALANCED ("0.02"), "steps=6 dtype=bf16:bf16");
  g_autoptr (LigRun) counted =
    begin (f, BALANCED ("0.02"), "steps=6 dtype=bf16:bf16 histograms=2 eval-every=3");
  finish (plain);
  g_assert_cmpint (finish (counted).status, ==, LIG_RUN_DONE);
  g_assert_null (lig_run_dup_problem (counted));
  assert_same_metric (f, lig_run_get_uuid (plain), lig_run_get_uuid (counted), LIG_METRIC_LOSS, 6);
}

/* --- Profiles ------------------------------------------------------------------------------ */

/* Replaced experts reach the permutation, also if it is recomputed: 120 choices among 4 experts of
 * a router. */
static void
test_filled (Fixture *f, gconstpointer data)
{
  static const struct {
    double exponent;
    float ends[4];
    LigRecompute recompute;
  } cases[] = {{0, {30, 60, 90, 120}, LIG_RECOMPUTE_NONE},
               {1, {58, 87, 106, 120}, LIG_RECOMPUTE_NONE},
               {1, {58, 87, 106, 120}, LIG_RECOMPUTE_ALL},
               {9, {60, 119, 120, 120}, LIG_RECOMPUTE_NONE}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_open (
      "router(2, weights=w, experts=e) ! permute(4, experts=e, weights=w)", NULL, &error);
    const LigShape shape = {.n_axes = 2, .axes = {60, 4}};
    const LigFillLoad load = {cases[i].exponent, NULL};
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.recompute = cases[i].recompute;
    lig_sequence_set_input (sequence, &shape, LIG_FP32);
    g_autoptr (LigState) state = lig_state_new (sequence, f->device, &options, 0, &error);
    g_assert_no_error (error);
    g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, &error);
    g_autoptr (LigProgram) program = lig_program_new (plan, state, &error);
    g_assert_no_error (error);
    g_assert_true (lig_program_fill_loaded (program, &load, &error));
    g_assert_true (lig_program_run (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD, &error));
    g_assert_no_error (error);
    g_autoptr (LigTensor) offsets = lig_program_read_extra_output (program, 0, &error);
    g_assert_no_error (error);
    g_assert_cmpint (offsets->size, ==, 5);
    for (int e = 0; e < 4; e++)
      g_assert_cmpfloat (lig_tensor_get (offsets, e + 1), ==, (double) cases[i].ends[e]);
  }
}

static GPtrArray *
profile (Fixture *f, const char *model, const char *name, GError **error)
{
  g_autoptr (LigSequence) sequence = lig_sequence_open (model, NULL, NULL);
  g_autoptr (LigProfileLoad) load = lig_profile_load_parse (name, f->store, error);
  const LigShape shape = {.n_axes = 2, .axes = {4, 16}};
  lig_sequence_set_input (sequence, &shape, LIG_INT32);
  return load ? lig_profile_measure_loaded (sequence, f->device, NULL, 1, 2, load, f->store, NULL,
                                            NULL, error)
              : NULL;
}

/* Profiles record their load, and are measured with that of a run of the same routers only. */
static void
test_profiles (Fixture *f, gconstpointer data)
{
  g_autofree char *run = train_mixture (f, "load-every=6", NULL);
  const char *const good[] = {"even", "zipf:0.5", run};
  const struct {
    const char *model, *load, *message;
  } bad[] = {{MODEL, "zipf:-1", "load is 'zipf:-1', expected an exponent from 0 to 10"},
             {MODEL, "zipf:11", "expected an exponent from 0 to 10"},
             {MODEL, "nothing", "has no run 'nothing'"},
             {MODEL, "zipf", "load is 'zipf', expected even, zipf:EXPONENT or a run: store"},
             {BALANCED ("0"), run, "the number of routers is 1, that of run"},
             {"embedding(16) ! mixture-of-experts(8) ! mixture-of-experts(4)", run,
              "the number of experts of the router at 1 is 8, that of run"},
             {"embedding(16) ! linear(4)", "zipf:1",
              "load is 'zipf:1', but the sequence distributes no rows to experts; omit it"}};
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GPtrArray) profiles = profile (f, MODEL, good[i], &error);
    g_assert_no_error (error);
    const LigProfile *one = profiles->pdata[0];
    g_autoptr (LigRunRow) row = lig_store_find_run (f->store, one->run, &error);
    g_autofree char *member = g_strdup_printf ("\"expert_load\": \"%s\"", good[i]);
    g_assert_cmpstr (one->load, ==, good[i]);
    g_assert_nonnull (strstr (row->settings, member));
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (profile (f, bad[i].model, bad[i].load, &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, bad[i].message));
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) none = profile (f, "embedding(16) ! linear(4)", "even", &error);
  g_assert_no_error (error);
  g_assert_null (((const LigProfile *) none->pdata[0])->load);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/loads/records", Fixture, NULL, set_up, test_records, tear_down);
  g_test_add ("/loads/dropped", Fixture, NULL, set_up, test_dropped, tear_down);
  g_test_add ("/loads/dropless", Fixture, NULL, set_up, test_dropless, tear_down);
  g_test_add ("/loads/same-losses", Fixture, NULL, set_up, test_same_losses, tear_down);
  g_test_add ("/balance/imbalance", Fixture, NULL, set_up, test_imbalance, tear_down);
  g_test_add ("/balance/steps", Fixture, NULL, set_up, test_steps, tear_down);
  g_test_add ("/balance/frozen", Fixture, NULL, set_up, test_frozen, tear_down);
  g_test_add ("/balance/resume", Fixture, "", set_up, test_resume, tear_down);
  g_test_add ("/balance/resume-bf16", Fixture, "dtype=bf16:bf16", set_up, test_resume, tear_down);
  g_test_add ("/balance/resume-accumulate", Fixture, "accumulate=3", set_up, test_resume,
              tear_down);
  g_test_add ("/balance/histograms", Fixture, NULL, set_up, test_histograms, tear_down);
  g_test_add ("/profiles/filled", Fixture, NULL, set_up, test_filled, tear_down);
  g_test_add ("/profiles/profiles", Fixture, NULL, set_up, test_profiles, tear_down);
  return run_tests ();
}
