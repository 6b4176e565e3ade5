/* SPDX-License-Identifier: MIT */
/* Runs that calibrate: the losses of a run without a recipe, the amaxes in the histories, the same
 * bits from a checkpoint in the middle, and contradicting settings. */
#include "tests/train/case.h"
#include <ligature/device.h>

#define BODY "layer-norm ! linear(48) ! gelu ! linear(16) ! linear(16)"
#define SAMPLES "synthetic?samples=400"

static char *
with_recipe (const char *recipe)
{
  return g_strdup_printf ("block(recipe=%s) { " BODY " } ! cross-entropy", recipe);
}

/* Returns the losses of the run's steps. */
static GArray *
losses_of (LigRun *run)
{
  GArray *losses = g_array_new (FALSE, FALSE, sizeof (double));
  LigRunMetric metric;
  while (lig_run_take_metrics (run, &metric, 1) == 1)
    if (strcmp (metric.name, LIG_METRIC_LOSS) == 0)
      g_array_append_val (losses, metric.value);
  return losses;
}

/* The first steps have the losses of a run without a recipe, bit for bit; the next one, with
 * quantized matmuls, does not. */
static void
test_losses (Fixture *f, gconstpointer data)
{
  g_autofree char *settings = g_strdup_printf ("steps=12 lr=0.01 %s", (const char *) data);
  g_autofree char *more = g_strconcat (settings, " calibrate=7", NULL);
  g_autofree char *none = with_recipe ("none"), *delayed = with_recipe ("fp8-delayed");
  g_autoptr (LigRun) plain = new_run (f, none, "32x32", SAMPLES, settings);
  g_autoptr (LigRun) calibrated = new_run (f, delayed, "32x32", SAMPLES, more);
  finish (plain);
  finish (calibrated);
  g_autoptr (GArray) exact = losses_of (plain), got = losses_of (calibrated);
  g_assert_cmpuint (exact->len, ==, 12);
  g_assert_cmpuint (got->len, ==, 12);
  for (guint i = 0; i < 12; i++) {
    gboolean same = g_array_index (exact, double, i) == g_array_index (got, double, i);
    g_assert_cmpint (same, ==, i < 7);
  }
}

static LigTensor *
read_tensor (const char *path, const char *format, const char *operand)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf (format, operand);
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  LigTensor *tensor = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  return tensor;
}

static float
last_amax (LigRun *run, const char *format, const char *operand)
{
  g_autoptr (LigTensor) history = read_tensor (lig_run_get_checkpoint (run), format, operand);
  return lig_tensor_get (history, history->size - 1);
}

/* With a rate of 0 the step that follows a calibration of one step has its amaxes in the history,
 * the newest last; those of the weight follow from its numbers, and the scale from the amax. */
static void
test_histories (Fixture *f, gconstpointer data)
{
  static const char *const operands[] = {"input", "weight", "gradient"};
  const char *expression = "linear(16, recipe=fp8-delayed, init-std=0.3) ! mean-squared-error";
  g_autoptr (LigRun) quantized =
    new_run (f, expression, "64x32", "synthetic?samples=64&validation=0", "steps=1 lr=0");
  g_autoptr (LigRun) run = new_run (f, expression, "64x32", "synthetic?samples=64&validation=0",
                                    "steps=2 lr=0 calibrate=1");
  finish (quantized);
  finish (run);
  g_autoptr (LigTensor) weight = read_tensor (lig_run_get_checkpoint (run), "0.%s", "weight");
  float amax = 0;
  for (gint64 i = 0; i < weight->size; i++)
    amax = MAX (amax, fabsf (lig_tensor_get (weight, i)));
  for (guint i = 0; i < G_N_ELEMENTS (operands); i++) {
    float largest = i == 2 ? 57344 : 448, max = 0;
    g_autoptr (LigTensor) scale =
      read_tensor (lig_run_get_checkpoint (run), "quantizer.0.%s.scale", operands[i]);
    g_autoptr (LigTensor) history =
      read_tensor (lig_run_get_checkpoint (run), "quantizer.0.%s.amax-history", operands[i]);
    g_assert_cmpint (history->size, ==, 1024);
    g_assert_cmpfloat (lig_tensor_get (history, 1021), ==, 0);
    g_assert_cmpfloat (lig_tensor_get (history, 1022), >, 0);
    for (gint64 j = 0; j < 1024; j++)
      max = MAX (max, lig_tensor_get (history, j));
    g_assert_cmpfloat (lig_tensor_get (scale, 0), ==, largest / max);
    /* Input and weight do not depend on the matmul, so they equal those of the recipe's first step;
     * the gradient depends on it slightly. */
    float own = last_amax (quantized, "quantizer.0.%s.amax-history", operands[i]);
    if (i < 2)
      g_assert_cmpfloat (lig_tensor_get (history, 1022), ==, own);
    else
      g_assert_cmpfloat_with_epsilon (lig_tensor_get (history, 1022), own, 0.05f * own);
    if (i == 1)
      g_assert_cmpfloat (lig_tensor_get (history, 1022), ==, amax);
  }
}

static LigRun *
resume (Fixture *f, const char *checkpoint, const char *override, GError **error)
{
  const char *const overrides[] = {override, NULL};
  return lig_run_resume (checkpoint, f->device, overrides, f->store, error);
}

/* Starts a run, and interrupts it after the given number of steps. */
static void
interrupt_at (LigRun *run, gint64 step, LigRunProgress *progress)
{
  g_autoptr (GError) error = NULL;
  lig_run_start (run);
  do
    lig_run_get_progress (run, progress);
  while (progress->step < step && progress->step < progress->steps);
  lig_run_interrupt (run);
  g_assert_true (lig_run_wait (run, &error));
  lig_run_get_progress (run, progress);
}

#define STEPS 200
#define CALIBRATED 180

/* A run that is interrupted during calibration or later continues with the same bits, also in
 * evaluations, and does not accept another number of calibration steps. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  const char *settings = "steps=200 calibrate=180 lr=0.01 accumulate=2 eval-every=20";
  g_autoptr (GError) error = NULL, contradiction = NULL;
  g_autofree char *expression = with_recipe ("fp8-delayed");
  g_autoptr (LigRun) whole = new_run (f, expression, "32x32", SAMPLES, settings);
  g_autoptr (LigRun) part = NULL;
  LigRunProgress expected = finish (whole), progress;
  gint64 from = GPOINTER_TO_INT (data);
  gint64 end = from < CALIBRATED ? CALIBRATED : STEPS;
  int tries = 0;
  /* On a busy machine this thread may sleep until the calibration, or the run, has ended. */
  do {
    g_clear_object (&part);
    part = new_run (f, expression, "32x32", SAMPLES, settings);
    interrupt_at (part, from, &progress);
  } while (progress.step >= end && ++tries < 50);
  g_assert_cmpint (progress.step, >=, from);
  g_assert_cmpint (progress.step, <, end);
  g_autofree char *checkpoint = g_strdup (lig_run_get_checkpoint (part));
  g_autofree char *uuid = g_strdup (lig_run_get_uuid (part));
  g_clear_object (&part);
  g_assert_null (resume (f, checkpoint, "calibrate=170", &contradiction));
  g_assert_nonnull (strstr (contradiction->message,
                            "calibrate 170 does not match the checkpoint, which has 180; omit it"));
  g_autoptr (LigRun) rest = resume (f, checkpoint, "calibrate=180", &error);
  g_assert_no_error (error);
  LigRunProgress result = finish (rest);
  g_assert_cmpint (result.first_step, ==, progress.step);
  g_assert_cmpfloat (result.eval_loss, ==, expected.eval_loss);
  assert_same_metric (f, lig_run_get_uuid (whole), uuid, LIG_METRIC_LOSS, STEPS);
  assert_same_tensors (lig_run_get_checkpoint (whole), checkpoint);
}

/* A calibration without a following step, or without a recipe with histories, is rejected. */
static void
test_rejected (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *expression, *settings, *message;
  } wrong[] = {
    {"linear(16, recipe=fp8-delayed) ! cross-entropy", "steps=5 calibrate=5",
     "calibrate is 5, expected a whole number below steps, 5"},
    {"linear(16, recipe=fp8-delayed) ! cross-entropy", "steps=5 calibrate=9",
     "calibrate is 9, expected a whole number below steps, 5"},
    {"linear(16, recipe=fp8-rows) ! cross-entropy", "steps=5 calibrate=2",
     "calibrate is 2, but recipe fp8-rows keeps no amaxes of earlier steps; omit it, or train with "
     "recipe fp8-delayed"},
    {"linear(16) ! cross-entropy", "steps=5 calibrate=2",
     "calibrate is 2, but recipe none keeps no amaxes of earlier steps; omit it, or train with "
     "recipe fp8-delayed"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigRun) run =
      try_run (f, wrong[i].expression, "32x32", SAMPLES, wrong[i].settings, NULL, &error);
    g_assert_null (run);
    g_assert_cmpstr (error->message, ==, wrong[i].message);
  }
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_assert_false (lig_run_settings_set (&settings, "calibrate", "-1", &error));
  g_assert_cmpstr (error->message, ==,
                   "calibrate is '-1', expected a whole number from 0 to 1e+15");
}

int
main (int argc, char **argv)
{
  static const char *const policies[] = {"policy=none", "policy=all",
                                         "policy=all dtype=bf16:fp32 accumulate=2"};
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    g_autofree char *path = g_strdup_printf ("/calibrate/losses/%u", i);
    g_test_add (path, Fixture, policies[i], set_up, test_losses, tear_down);
  }
  g_test_add ("/calibrate/histories", Fixture, NULL, set_up, test_histories, tear_down);
  g_test_add ("/calibrate/resume/early", Fixture, GINT_TO_POINTER (10), set_up, test_resume,
              tear_down);
  g_test_add ("/calibrate/resume/late", Fixture, GINT_TO_POINTER (CALIBRATED), set_up, test_resume,
              tear_down);
  g_test_add ("/calibrate/rejected", Fixture, NULL, set_up, test_rejected, tear_down);
  return g_test_run ();
}
