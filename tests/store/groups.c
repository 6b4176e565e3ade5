/* SPDX-License-Identifier: MIT */
/* Runs are grouped by a setting, and the means and spreads are those of their results. */
#include "tests/store/case.h"
#include <ligature/store-groups.h>
#include <ligature/store-sweeps.h>

#include <math.h>

/* Adds a finished training run with a learning rate, a seed and losses. */
static void
add_run (LigStore *store, const char *name, const char *lr, guint64 seed, double loss)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *settings = lr ? g_strdup_printf ("{\"lr\": %s, \"weight-decay\": 0.5, "
                                                    "\"seed\": %" G_GUINT64_FORMAT "}",
                                                    lr, seed)
                                 : g_strdup ("not JSON");
  const LigRunRecord record = {.name = name,
                               .sequence = "{\"ligature\":1,\"ops\":[]}",
                               .kind = "train",
                               .device = "cpu",
                               .dtype = "fp32",
                               .recipe = "none",
                               .policy = "all",
                               .seed = seed,
                               .settings = settings,
                               .versions = "{}"};
  g_autofree char *run = lig_store_begin_run (store, &record, &error);
  g_assert_no_error (error);
  lig_store_add_metric (store, run, 1, "loss", loss);
  lig_store_add_metric (store, run, 1, "eval-loss", 2 * loss);
  g_assert_true (lig_store_finish_run (store, run, "done", NULL, &error));
}

static GPtrArray *
group (LigStore *store, const LigRunFilter *filter, const char *by)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *groups = lig_store_group_runs (store, filter, by, &error);
  g_assert_no_error (error);
  return groups;
}

static LigStore *
fill (Fixture *f)
{
  LigStore *store = open_store (f->path);
  add_run (store, "a", "0.1", 1, 1);
  add_run (store, "a", "0.1", 2, 2);
  add_run (store, "a", "0.1", 3, 4);
  add_run (store, "a", "1e-05", 1, 10);
  add_run (store, "zulu", NULL, 1, 7);
  return store;
}

static void
test_by_setting (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = fill (f);
  g_autoptr (GPtrArray) groups = group (store, NULL, "lr");
  g_assert_cmpuint (groups->len, ==, 3);
  const LigRunGroup *small = groups->pdata[0], *large = groups->pdata[1], *none = groups->pdata[2];
  g_assert_cmpfloat (g_ascii_strtod (small->value, NULL), ==, 1e-5);
  g_assert_cmpuint (small->runs, ==, 1);
  g_assert_true (isnan (small->last_loss.std));
  g_assert_cmpstr (large->value, ==, "0.1");
  g_assert_cmpuint (large->runs, ==, 3);
  g_assert_cmpfloat_with_epsilon (large->last_loss.mean, 7.0 / 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (large->last_loss.std, sqrt (7.0 / 3), 1e-12);
  g_assert_cmpfloat (large->eval_loss.min, ==, 2);
  g_assert_cmpfloat (large->eval_loss.max, ==, 8);
  g_assert_cmpuint (large->eval_accuracy.count, ==, 0);
  g_assert_true (isnan (large->eval_accuracy.mean));
  g_assert_null (none->value);
  g_assert_cmpuint (none->runs, ==, 1);
}

/* The repetitions of a run differ only in their seed. */
static void
test_all_but_seed (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = fill (f);
  g_autoptr (GPtrArray) groups = group (store, NULL, LIG_RUN_ALL_BUT_SEED);
  guint runs[4] = {0};
  g_assert_cmpuint (groups->len, ==, 3);
  for (guint i = 0; i < groups->len; i++)
    runs[((LigRunGroup *) groups->pdata[i])->runs]++;
  g_assert_cmpuint (runs[3], ==, 1);
  g_assert_cmpuint (runs[1], ==, 2);
}

/* Runs of a sweep are one fold with the best mean, and repetitions another; a run of which the list
 * has no second one is none. */
static void
test_folds (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = fill (f);
  g_autoptr (GError) error = NULL;
  g_autofree char *sweep = lig_store_begin_sweep (store, "s", "{}", &error);
  static const struct {
    const char *lr;
    double loss;
  } swept[] = {{"0.5", 0.25}, {"0.5", 4}, {"0.25", 2}, {"0.25", 1}};
  for (guint i = 0; i < G_N_ELEMENTS (swept); i++) {
    add_run (store, "a", swept[i].lr, i, swept[i].loss);
    g_autoptr (LigRunRow) row = lig_store_find_run (store, "last", &error);
    g_assert_true (lig_store_set_sweep (store, row->uuid, sweep, i, &error));
  }
  g_autoptr (GArray) keys = lig_store_list_keys (store, NULL, LIG_RUN_BY_START, FALSE, &error);
  guint places[9];
  g_assert_cmpuint (keys->len, ==, G_N_ELEMENTS (places));
  const gint64 *all = &g_array_index (keys, gint64, 0);
  g_autoptr (GPtrArray) folds = lig_store_fold_runs (store, all, keys->len, places, &error);
  g_assert_no_error (error);
  static const guint expected[] = {0, 0, 0, G_MAXUINT, G_MAXUINT, 1, 1, 1, 1};
  g_assert_cmpmem (places, sizeof places, expected, sizeof expected);
  const LigRunFold *repeated = folds->pdata[0], *best = folds->pdata[1];
  g_assert_null (repeated->sweep);
  g_assert_cmpuint (repeated->runs, ==, 3);
  g_assert_cmpuint (repeated->settings, ==, 1);
  g_assert_cmpfloat_with_epsilon (repeated->last_loss.mean, 7.0 / 3, 1e-12);
  /* The lowest loss is that of a lucky seed, but its settings have the worse mean. */
  g_assert_cmpstr (best->sweep, ==, sweep);
  g_assert_cmpuint (best->done, ==, 4);
  g_assert_cmpuint (best->settings, ==, 2);
  g_assert_cmpfloat_with_epsilon (best->last_loss.mean, 1.5, 1e-12);
  g_assert_cmpint (best->sample, ==, all[8]);
  g_autoptr (GPtrArray) two = lig_store_fold_runs (store, all, 2, places, &error);
  g_assert_cmpuint (two->len, ==, 1);
  g_autoptr (GPtrArray) none = lig_store_fold_runs (store, all, 1, places, &error);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_cmpuint (places[0], ==, G_MAXUINT);
}

/* The runs of a group are listed by its value, and a list is sorted by a setting as by a number. */
static void
test_filter (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = fill (f);
  g_autoptr (GError) error = NULL;
  static const char *const settings[] = {"lr", "seed", "name", LIG_RUN_ALL_BUT_SEED,
                                         "weight-decay"};
  for (guint s = 0; s < G_N_ELEMENTS (settings); s++) {
    g_autoptr (GPtrArray) groups = group (store, NULL, settings[s]);
    for (guint i = 0; i < groups->len; i++) {
      const LigRunGroup *one = groups->pdata[i];
      const LigRunFilter filter = {.group_by = settings[s], .group = one->value};
      g_autoptr (GPtrArray) rows = lig_store_list_runs (store, &filter, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (rows->len, ==, one->runs);
    }
  }
  const LigRunFilter order = {.order_by = "lr"};
  g_autoptr (GArray) keys = lig_store_list_keys (store, &order, LIG_RUN_BY_SETTING, FALSE, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (store, (gint64 *) (gpointer) keys->data, keys->len, &error);
  g_assert_cmpuint (rows->len, ==, 5);
  g_assert_cmpfloat (((LigRunRow *) rows->pdata[0])->last_loss, ==, 10);
  g_assert_cmpstr (((LigRunRow *) rows->pdata[4])->name, ==, "zulu");
}

/* A group has only runs that match the filter, and names of settings are not run as SQL. */
static void
test_hostile (Fixture *f, gconstpointer data)
{
  g_autoptr (LigStore) store = fill (f);
  const LigRunFilter only = {.text = "zulu"};
  g_autoptr (GPtrArray) groups = group (store, &only, "name");
  g_assert_cmpuint (groups->len, ==, 1);
  g_autoptr (GPtrArray) odd = group (store, NULL, "x\") FROM run; DROP TABLE run; --\\'");
  g_assert_cmpuint (odd->len, ==, 1);
  g_assert_null (((LigRunGroup *) odd->pdata[0])->value);
  g_assert_cmpint (lig_store_count_runs (store, NULL), ==, 5);
}

int
main (int argc, char **argv)
{
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/store-groups/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("by-setting", test_by_setting);
  ADD ("all-but-seed", test_all_but_seed);
  ADD ("folds", test_folds);
  ADD ("filter", test_filter);
  ADD ("hostile", test_hostile);
  return g_test_run ();
}
