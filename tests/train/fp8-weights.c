/* SPDX-License-Identifier: MIT */
/* Weights that are kept in fp32 and fp8: the same bits as bf16 weights, from a weight file and
 * after a calibration, the types of a .lig file, and resuming with other types. */
#include "tests/train/case.h"
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/plan.h>

/* An embedding is not a matmul, and the recipe's block size does not divide the features of one
 * weight. */
#define MIXED \
  "embedding(32, vocabulary=256) ! layer-norm ! linear(64, recipe=%1$s) ! gelu ! " \
  "linear(24, recipe=%1$s) ! linear(32, recipe=%1$s) ! linear(256, recipe=%1$s) ! cross-entropy"

static LigRun *
begin (Fixture *f, const char *recipe, const char *settings, const char *init)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *expression = g_strdup_printf (MIXED, recipe);
  g_autofree char *text = g_strdup_printf ("text:%s/LICENSE", g_getenv ("LIGATURE_SOURCE"));
  g_autofree char *all = g_strconcat ("eval-every=5 clip=0.1 ", settings, NULL);
  LigRun *run = try_run (f, expression, "8x32:int32", text, all, init, &error);
  g_assert_no_error (error);
  return run;
}

/* Two runs that differ in their parameter type have the same losses and write the same checkpoint,
 * to the last bit. */
static void
compare_types (Fixture *f, const char *recipe, const char *settings, guint steps, const char *init)
{
  static const char *const types[] = {"bf16:bf16", "bf16:fp8"};
  LigRun *runs[2];
  LigRunProgress progress[2];
  for (int i = 0; i < 2; i++) {
    g_autofree char *all = g_strdup_printf ("steps=%u dtype=%s %s", steps, types[i], settings);
    runs[i] = begin (f, recipe, all, init);
    progress[i] = finish (runs[i]);
  }
  const char *stored = lig_run_get_uuid (runs[0]), *kept = lig_run_get_uuid (runs[1]);
  assert_same_metric (f, stored, kept, LIG_METRIC_LOSS, steps);
  g_assert_cmpfloat (progress[0].eval_loss, ==, progress[1].eval_loss);
  assert_same_tensors (lig_run_get_checkpoint (runs[0]), lig_run_get_checkpoint (runs[1]));
  g_object_unref (runs[0]);
  g_object_unref (runs[1]);
}

/* Weights from the file of an fp32 run are rounded once. */
static void
test_init (Fixture *f, gconstpointer recipe)
{
  g_autoptr (LigRun) first = begin (f, "none", "steps=9 lr=0.01 dtype=fp32", NULL);
  finish (first);
  const char *weights = lig_run_get_checkpoint (first);
  compare_types (f, recipe, "lr=0.01 optimizer=adamw", 12, weights);
  compare_types (f, recipe, "lr=0.01 optimizer=sgd accumulate=2", 8, weights);
  /* The file was read: the first loss is not that of initial weights. */
  g_autoptr (LigRun) begun = begin (f, recipe, "steps=1 lr=0.01 dtype=bf16:fp8", weights);
  g_autoptr (LigRun) drawn = begin (f, recipe, "steps=1 lr=0.01 dtype=bf16:fp8", NULL);
  LigRunProgress a = finish (begun), b = finish (drawn);
  g_assert_cmpfloat (a.loss, <, b.loss - 0.1);
}

/* The steps of a calibration run in the compute type, with the losses of a run without a recipe;
 * later steps start with the scales that bf16 gives. */
static void
test_calibrate (Fixture *f, gconstpointer data)
{
  compare_types (f, "fp8-delayed", "lr=0.01 optimizer=adamw calibrate=5", 12, NULL);
  compare_types (f, "fp8-delayed", "lr=0.01 optimizer=sgd momentum=0.9 calibrate=1", 4, NULL);
  g_autoptr (LigRun) plain = begin (f, "none", "steps=8 lr=0.01 dtype=bf16", NULL);
  g_autoptr (LigRun) kept =
    begin (f, "fp8-delayed", "steps=8 lr=0.01 dtype=bf16:fp8 calibrate=5", NULL);
  finish (plain);
  finish (kept);
  g_autoptr (GArray) exact = read_metric (f, lig_run_get_uuid (plain), LIG_METRIC_LOSS, 1, 1);
  g_autoptr (GArray) got = read_metric (f, lig_run_get_uuid (kept), LIG_METRIC_LOSS, 1, 1);
  for (guint i = 0; i < 8; i++) {
    g_assert_cmpint (value_at (exact, i) == value_at (got, i), ==, i < 5);
    g_assert_cmpfloat (fabs (value_at (exact, i) - value_at (got, i)), <=,
                       0.05 * value_at (exact, i));
  }
}

/* A calibration continues from a checkpoint in its middle. */
static void
test_calibrate_resumed (Fixture *f, gconstpointer data)
{
  const char *settings = "lr=0.01 dtype=bf16:fp8 calibrate=6";
  const char *const more[] = {"steps=10", "dtype=bf16:fp8", NULL};
  g_autoptr (GError) error = NULL;
  g_autofree char *all = g_strconcat ("steps=10 ", settings, NULL);
  g_autofree char *some = g_strconcat ("steps=7 ", settings, NULL);
  g_autoptr (LigRun) whole = begin (f, "fp8-delayed", all, NULL);
  g_autoptr (LigRun) first = begin (f, "fp8-delayed", some, NULL);
  finish (whole);
  finish (first);
  g_autoptr (LigRun) second =
    lig_run_resume (lig_run_get_checkpoint (first), f->device, more, f->store, &error);
  g_assert_no_error (error);
  finish (second);
  assert_same_tensors (lig_run_get_checkpoint (whole), lig_run_get_checkpoint (second));
}

/* --- Types in a file ------------------------------------------------------------------------- */

static char *
write_sequence (Fixture *f, const char *types)
{
  g_autoptr (GError) error = NULL;
  char *path = in_folder (f, "typed.lig");
  g_autofree char *text =
    g_strdup_printf ("{\"ligature\":1,\"input\":{\"shape\":[32,32]},\"types\":%s,"
                     "\"recipe\":{\"name\":\"fp8-rows\"},\"ops\":["
                     "{\"op\":\"linear\",\"out-features\":64},{\"op\":\"gelu\"},"
                     "{\"op\":\"linear\",\"out-features\":16},{\"op\":\"mean-squared-error\"}]}",
                     types);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  return path;
}

/* A file with the type trains like the setting does and is written unchanged, and the store has the
 * type. */
static void
test_file (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_sequence (f, "{\"compute\": \"bf16\", \"parameters\": \"fp8\"}");
  g_autoptr (LigSequence) sequence = lig_sequence_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lig_sequence_get_parameters (sequence), ==, LIG_FP8_E4M3);
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_assert_nonnull (strstr (json, "\"types\": {\"compute\": \"bf16\", \"parameters\": \"fp8\"}"));
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, f->device, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (lig_plan_get_parameters_name (plan), ==, "fp8");
  g_autoptr (LigRun) kept = try_run (f, path, NULL, "synthetic", "steps=6 lr=0.01", NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigRun) stored =
    try_run (f, path, NULL, "synthetic", "steps=6 lr=0.01 dtype=bf16:bf16", NULL, &error);
  g_assert_no_error (error);
  finish (kept);
  finish (stored);
  assert_same_tensors (lig_run_get_checkpoint (kept), lig_run_get_checkpoint (stored));
  g_autoptr (LigRunRow) row = lig_store_find_run (f->store, lig_run_get_uuid (kept), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->dtype, ==, "bf16:fp8");
}

/* Resuming with other types is rejected with one message, for types of the file and of the setting;
 * the same types are accepted. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *file, *setting, *given, *sentence;
  } cases[] = {
    {"{\"compute\": \"bf16\", \"parameters\": \"fp8\"}", "", "dtype=bf16:bf16",
     "dtype bf16:bf16 does not match the checkpoint, which has bf16:fp8; omit it"},
    {"{\"compute\": \"bf16\", \"parameters\": \"fp8\"}", "", "dtype=bf16:fp8", NULL},
    {"{\"compute\": \"bf16\", \"parameters\": \"fp8\"}", "", "dtype=bf16", NULL},
    {"{\"compute\": \"bf16\"}", "dtype=bf16:fp8", "dtype=bf16",
     "dtype bf16:bf16 does not match the checkpoint, which has bf16:fp8; omit it"},
    {"{\"compute\": \"bf16\"}", "", "dtype=bf16:fp8",
     "dtype bf16:fp8 does not match the checkpoint, which has bf16:bf16; omit it"},
    {"{}", "", "dtype=fp32", NULL},
    {"{}", "", "dtype=fp32:bf16",
     "dtype fp32:bf16 does not match the checkpoint, which has fp32:fp32; omit it"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_sequence (f, cases[i].file);
    g_autofree char *settings = g_strconcat ("steps=3 ", cases[i].setting, NULL);
    g_autoptr (LigRun) run = try_run (f, path, NULL, "synthetic", settings, NULL, &error);
    g_assert_no_error (error);
    finish (run);
    const char *const more[] = {"steps=5", cases[i].given, NULL};
    g_autoptr (LigRun) next =
      lig_run_resume (lig_run_get_checkpoint (run), f->device, more, f->store, &error);
    if (!cases[i].sentence) {
      g_assert_no_error (error);
      finish (next);
      continue;
    }
    g_assert_null (next);
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    assert_message (error, cases[i].sentence);
  }
}

int
main (int argc, char **argv)
{
  static const char *const recipes[] = {"fp8-delayed", "fp8-current", "fp8-rows", "fp8-block"};
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autofree char *path = g_strconcat ("/fp8-weights/init/", recipes[i], NULL);
    g_test_add (path, Fixture, recipes[i], set_up, test_init, tear_down);
  }
  g_test_add ("/fp8-weights/calibrate", Fixture, NULL, set_up, test_calibrate, tear_down);
  g_test_add ("/fp8-weights/calibrate-resumed", Fixture, NULL, set_up, test_calibrate_resumed,
              tear_down);
  g_test_add ("/fp8-weights/file", Fixture, NULL, set_up, test_file, tear_down);
  g_test_add ("/fp8-weights/resume", Fixture, NULL, set_up, test_resume, tear_down);
  return g_test_run ();
}
