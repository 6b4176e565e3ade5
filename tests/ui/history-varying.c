/* SPDX-License-Identifier: MIT */
/* Runs are named by the settings in which they differ. */
#include "ui/history/varying.h"

#include <string.h>

#define OPS(features, second) \
  "{\"ops\":[{\"op\":\"block\",\"repeat\":2,\"ops\":[{\"op\":\"linear\",\"out-" \
  "features\":" #features "}]}," \
  "{\"op\":\"" second "\"}]}"

static LigRunRow
make_run (const char *name, const char *settings, guint64 seed, const char *sequence)
{
  return (LigRunRow){.uuid = seed == 1 ? "11112222-0000" : "33334444-0000",
                     .name = name,
                     .kind = "train",
                     .device = "cpu",
                     .dtype = "fp32",
                     .recipe = "none",
                     .policy = "all",
                     .seed = seed,
                     .settings = settings,
                     .sequence = sequence};
}

static void
check (LigRunRow one, LigRunRow other, const char *first, const char *second)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  g_ptr_array_add (rows, &one);
  g_ptr_array_add (rows, &other);
  g_auto (GStrv) labels = lig_history_label_runs (rows);
  g_assert_cmpstr (labels[0], ==, first);
  g_assert_cmpstr (labels[1], ==, second);
}

static void
test_labels (void)
{
  const char *slow = "{\"lr\":0.001,\"steps\":50,\"checkpoint\":\"a\"}";
  const char *fast = "{\"lr\":0.003,\"steps\":50,\"checkpoint\":\"b\"}";
  const char *ops = OPS (8, "gelu");
  check (make_run ("mlp", slow, 1, ops), make_run ("mlp", fast, 1, ops), "Learning rate 0.001",
         "Learning rate 0.003");
  check (make_run ("mlp", slow, 1, ops), make_run ("mlp", slow, 2, ops), "Seed 1", "Seed 2");
  check (make_run ("mlp", slow, 1, ops), make_run ("wide", fast, 1, ops),
         "mlp · Learning rate 0.001", "wide · Learning rate 0.003");
  /* Parameters of ops have their paths, unless the ops themselves differ. */
  check (make_run ("mlp", slow, 1, ops), make_run ("mlp", slow, 1, OPS (16, "gelu")),
         "0.0.0.out-features 8", "0.0.0.out-features 16");
  check (make_run ("mlp", slow, 1, ops), make_run ("mlp", fast, 1, OPS (16, "silu")),
         "Learning rate 0.001", "Learning rate 0.003");
  /* Nothing distinguishes them but their uuids. */
  LigRunRow again = make_run ("mlp", slow, 1, ops);
  again.uuid = "55556666-0000";
  check (make_run ("mlp", slow, 1, ops), again, "mlp · 11112222", "mlp · 55556666");
}

/* At most three settings fit into a label; uuids distinguish those that the others would. */
static void
test_many (void)
{
  check (make_run ("mlp", "{\"lr\":0.1,\"steps\":1,\"batch\":8,\"clip\":1}", 1, "{}"),
         make_run ("mlp", "{\"lr\":0.2,\"steps\":2,\"batch\":9,\"clip\":2}", 2, "{}"),
         "Steps 1 · Batch 8 · Learning rate 0.1", "Steps 2 · Batch 9 · Learning rate 0.2");
}

/* The list shows columns for settings, types, recipe and device that differ; a profile,
 * which has other settings, does not count. */
static void
test_columns (void)
{
  LigRunRow one = make_run ("a", "{\"lr\":0.1,\"steps\":5}", 1, "{}");
  LigRunRow other = make_run ("b", "{\"lr\":0.2,\"steps\":5}", 1, "{}");
  LigRunRow profile = make_run ("c", "{\"tf32\":false}", 1, "{}");
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  profile.kind = "profile";
  profile.recipe = "fp8-current";
  g_ptr_array_add (rows, &one);
  g_ptr_array_add (rows, &profile);
  g_auto (GStrv) few = lig_history_find_varying (rows);
  g_autofree char *first = g_strjoinv (" ", few);
  g_assert_cmpstr (first, ==, "");
  g_ptr_array_add (rows, &other);
  g_auto (GStrv) more = lig_history_find_varying (rows);
  g_autofree char *second = g_strjoinv (" ", more);
  g_assert_cmpstr (second, ==, "setting-lr");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/history-varying/labels", test_labels);
  g_test_add_func ("/ui/history-varying/many", test_many);
  g_test_add_func ("/ui/history-varying/columns", test_columns);
  return g_test_run ();
}
