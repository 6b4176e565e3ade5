/* SPDX-License-Identifier: MIT */
/* Runs with recipes: scales and histories of delayed scaling step by step, the same bits from a
 * checkpoint, mismatched checkpoints, and losses near those of the compute type. */
#include "tests/train/case.h"
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/state.h>

#include <gio/gio.h>

static const char *const recipes[] = {"fp8-delayed", "fp8-current", "fp8-rows", "fp8-block"};

static char *
with_recipe (const char *recipe)
{
  return g_strdup_printf ("block(recipe=%s) { layer-norm ! linear(48) ! gelu ! linear(16) ! "
                          "linear(16) } ! cross-entropy",
                          recipe);
}

static char *
saved (Fixture *f, LigRun *run, const char *name)
{
  g_autoptr (GError) error = NULL;
  char *path = in_folder (f, name);
  g_autoptr (GFile) from = g_file_new_for_path (lig_run_get_checkpoint (run));
  g_autoptr (GFile) to = g_file_new_for_path (path);
  g_file_copy (from, to, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return path;
}

static LigRun *
resume (Fixture *f, const char *checkpoint, const char *override, GError **error)
{
  const char *const overrides[] = {override, NULL};
  return lig_run_resume (checkpoint, f->device, overrides, f->store, error);
}

/* 40 steps give the bits of 17, saved, and 23 more. */
static void
test_resume (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *expression = with_recipe (data);
  g_autoptr (LigRun) whole =
    new_run (f, expression, "32x32", "synthetic?samples=400", "steps=40 lr=0.01 accumulate=2");
  finish (whole);
  g_autoptr (LigRun) first =
    new_run (f, expression, "32x32", "synthetic?samples=400", "steps=17 lr=0.01 accumulate=2");
  finish (first);
  g_autofree char *checkpoint = saved (f, first, "first.safetensors");
  g_autoptr (LigRun) second = resume (f, checkpoint, "steps=40", &error);
  g_assert_no_error (error);
  finish (second);
  assert_same_tensors (lig_run_get_checkpoint (whole), lig_run_get_checkpoint (second));
}

/* The validation loss is within a percent of that of the compute type. */
static void
test_loss (Fixture *f, gconstpointer data)
{
  g_autofree char *expression = with_recipe (data);
  g_autofree char *none = with_recipe ("none");
  static const char *const settings[] = {"steps=100 lr=0.003 dtype=bf16:fp32",
                                         "steps=50 lr=0.003 dtype=bf16:fp32 accumulate=3"};
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    const char *data_set = "synthetic?samples=6400";
    g_autoptr (LigRun) plain = new_run (f, none, "64x32", data_set, settings[i]);
    g_autoptr (LigRun) quantized = new_run (f, expression, "64x32", data_set, settings[i]);
    LigRunProgress exact = finish (plain), rounded = finish (quantized);
    g_assert_cmpfloat (rounded.loss, !=, exact.loss);
    g_assert_cmpfloat_with_epsilon (rounded.loss, exact.loss, 0.05 * exact.loss);
    g_assert_cmpfloat_with_epsilon (rounded.eval_loss, exact.eval_loss, 0.01 * exact.eval_loss);
  }
}

/* So is that of a mixture of experts. */
static void
test_mixture (Fixture *f, gconstpointer data)
{
  const char *const text =
    "embedding(32) ! block(recipe=%s, repeat=2) { layer-norm ! mixture-of-experts(4, "
    "expert-features=48, activation=swiglu, weights-at=%s) } ! linear(16) ! cross-entropy";
  static const char *const places[] = {"output", "activation"};
  const char *settings = "steps=60 lr=0.01 dtype=bf16:fp32";
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *expression = g_strdup_printf (text, data, places[i]);
    g_autofree char *none = g_strdup_printf (text, "none", places[i]);
    g_autoptr (LigRun) plain = new_run (f, none, "32x16:int32", "synthetic?samples=6400", settings);
    g_autoptr (LigRun) quantized =
      new_run (f, expression, "32x16:int32", "synthetic?samples=6400", settings);
    LigRunProgress exact = finish (plain), rounded = finish (quantized);
    g_assert_cmpfloat (rounded.loss, !=, exact.loss);
    g_assert_cmpfloat_with_epsilon (rounded.loss, exact.loss, 0.05 * exact.loss);
    g_assert_cmpfloat_with_epsilon (rounded.eval_loss, exact.eval_loss, 0.01 * exact.eval_loss);
  }
}

/* A gradient that overflows fp16 is not hidden by its quantized copies: the update is skipped, and
 * scales do not follow from it. */
static void
test_overflow (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *expression = g_strdup_printf (
    "block(recipe=%s) { linear(16, bias=false) } ! cross-entropy", (const char *) data);
  const char *const settings[] = {"steps=100 lr=0.01 dtype=fp16:fp32 loss-scale=16777216",
                                  "steps=100 lr=0.01 dtype=fp16:fp32"};
  g_autoptr (LigRun) fixed = new_run (f, expression, "8x32", "synthetic?samples=400", settings[0]);
  lig_run_start (fixed);
  g_assert_false (lig_run_wait (fixed, &error));
  assert_message (error, "not finite in the last 8 steps up to step 8");
  LigRunProgress adapted = train (f, expression, "8x32", "synthetic?samples=400", settings[1]);
  LigRunProgress plain = train (f, "linear(16, bias=false) ! cross-entropy", "8x32",
                                "synthetic?samples=400", settings[1]);
  g_assert_cmpint (plain.skipped, <, 20);
  g_assert_cmpint (adapted.skipped, <, 20);
  g_assert_cmpfloat_with_epsilon (adapted.eval_loss, plain.eval_loss, 0.02 * plain.eval_loss);
}

static LigTensor *
read_tensor (const char *path, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  LigTensor *tensor = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  return tensor;
}

/* The file has a scale and a history for each operand of each matmul; a weight's scale follows
 * from its largest value so far. */
static void
test_names (Fixture *f, gconstpointer data)
{
  static const char *const operands[] = {"input", "weight", "gradient"};
  g_autoptr (LigRun) run = new_run (f,
                                    "linear(16, recipe=fp8-delayed, init-std=0.3) ! "
                                    "mean-squared-error",
                                    "32x32", "synthetic?samples=64", "steps=1 lr=0");
  finish (run);
  g_autoptr (LigTensor) weight = read_tensor (lig_run_get_checkpoint (run), "0.weight");
  float amax = 0;
  for (gint64 i = 0; i < weight->size; i++)
    amax = MAX (amax, fabsf (lig_tensor_get (weight, i)));
  for (guint i = 0; i < G_N_ELEMENTS (operands); i++) {
    g_autofree char *scale = g_strdup_printf ("quantizer.0.%s.scale", operands[i]);
    g_autofree char *history = g_strdup_printf ("quantizer.0.%s.amax-history", operands[i]);
    g_autoptr (LigTensor) one = read_tensor (lig_run_get_checkpoint (run), scale);
    g_autoptr (LigTensor) all = read_tensor (lig_run_get_checkpoint (run), history);
    g_assert_cmpint (one->size, ==, 1);
    g_assert_cmpint (all->size, ==, 1024);
    float last = lig_tensor_get (all, 1023), largest = i == 2 ? 57344 : 448;
    g_assert_cmpfloat (last, >, 0);
    g_assert_cmpfloat (lig_tensor_get (all, 0), ==, 0);
    g_assert_cmpfloat (lig_tensor_get (one, 0), ==, largest / last);
    if (i == 1)
      g_assert_cmpfloat (last, ==, amax);
  }
}

/* Writes a copy of the checkpoint in which a tensor has other values, or is missing. */
static char *
spoil (Fixture *f, const char *checkpoint, const char *name, const LigTensor *replacement)
{
  static const char *const keys[] = {"checkpoint", "sequence", "settings",   "choices",
                                     "data",       "content",  "device",     "instructions",
                                     "threads",    "step",     "micro_step", "position"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) from = lig_tensor_file_load (checkpoint, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) to = lig_tensor_file_new ();
  for (const char *const *at = lig_tensor_file_get_names (from); *at; at++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (from, *at, &error);
    g_assert_no_error (error);
    if (!g_str_equal (*at, name))
      lig_tensor_file_add (to, *at, tensor);
    else if (replacement)
      lig_tensor_file_add (to, name, (LigTensor *) replacement);
  }
  if (replacement && !lig_tensor_file_has (from, name))
    lig_tensor_file_add (to, name, (LigTensor *) replacement);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autofree char *key = g_strconcat ("ligature.", keys[i], NULL);
    lig_tensor_file_set_metadata (to, key, lig_tensor_file_get_metadata (from, key));
  }
  char *path = in_folder (f, "spoilt.safetensors");
  lig_tensor_file_save (to, path, &error);
  g_assert_no_error (error);
  return path;
}

static void
reject (Fixture *f,
        const char *checkpoint,
        const char *name,
        const LigTensor *replacement,
        const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = spoil (f, checkpoint, name, replacement);
  g_autoptr (LigRun) run = resume (f, path, "steps=9", &error);
  g_assert_null (run);
  if (!strstr (error->message, message))
    g_error ("%s; expected %s", error->message, message);
}

static LigTensor *
constant (gint64 count, float value)
{
  LigShape shape;
  lig_shape_init (&shape, 1, count);
  LigTensor *tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  for (gint64 i = 0; i < count; i++)
    ((float *) tensor->data)[i] = value;
  return tensor;
}

static void
test_spoilt (Fixture *f, gconstpointer data)
{
  g_autoptr (LigRun) run = new_run (f, "linear(16, recipe=fp8-delayed) ! mean-squared-error",
                                    "32x32", "synthetic?samples=64", "steps=3 lr=0.01");
  finish (run);
  const char *path = lig_run_get_checkpoint (run);
  g_autoptr (LigTensor) zero = constant (1, 0), endless = constant (1, INFINITY);
  g_autoptr (LigTensor) min = constant (1, 1e-45f);
  g_autoptr (LigTensor) negative = constant (1024, -1), shorter = constant (16, 1);
  reject (
    f, path, "quantizer.0.input.scale", NULL,
    "quantizer.0.input.scale is missing; train with the recipe that the file was trained with");
  reject (f, path, "quantizer.0.weight.scale", zero,
          "quantizer.0.weight.scale is 0 at 0, expected a finite number above 0");
  reject (f, path, "quantizer.0.weight.amax-target", zero,
          "quantizer.0.weight.amax-target is 0 at 0, expected a finite number above 0");
  reject (f, path, "quantizer.9.weight.scale", min,
          "quantizer.9.weight.scale is surplus; train with the recipe that the file was trained");
  reject (f, path, "quantizer.0.weight.scale", endless, "is inf at 0, expected a finite number");
  reject (f, path, "quantizer.0.weight.scale", min, "above 0 that has a finite inverse");
  /* Checkpoints of earlier versions have no targets. */
  g_autoptr (GError) error = NULL;
  g_autofree char *older = spoil (f, path, "quantizer.0.weight.amax-target", NULL);
  g_autoptr (LigRun) resumed = resume (f, older, "steps=9", &error);
  g_assert_no_error (error);
  g_clear_object (&resumed);
  reject (f, path, "optimizer.moment.0.weight", NULL,
          "start a new run from the weights: optimizer.moment.0.weight is missing");
  /* For checkpoints of the first version the loss scale is that of a new run. */
  g_autofree char *first = spoil (f, path, "optimizer.scaling", NULL);
  g_autoptr (LigRun) unscaled = resume (f, first, "steps=9", &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (lig_run_get_weights_note (unscaled), "optimizer.scaling is missing"));
  g_clear_object (&unscaled);
  reject (f, path, "quantizer.0.gradient.amax-history", negative,
          "is -1 at 0, expected a number from 0");
  reject (
    f, path, "quantizer.0.gradient.amax-history", shorter,
    "the length of quantizer.0.gradient.amax-history is 16 and its type is fp32, expected 1024");
}

/* Loads weights into a new state for evaluations, and returns the scale of an operand; `note` gets
 * the remark. */
static float
load_scale (Fixture *f, const char *path, const char *recipe, const char *operand, char **note)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  options.recipe = recipe;
  lig_shape_init (&shape, 2, (gint64) 32, (gint64) 32);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("linear(16)", &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_autoptr (LigState) state = lig_state_new (sequence, f->device, &options, 0, &error);
  g_assert_no_error (error);
  lig_state_load_weights (state, path, note, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_assert_true (lig_state_store (state, file, TRUE, &error));
  g_autofree char *name = g_strdup_printf ("quantizer.0.%s.scale", operand);
  g_autoptr (LigTensor) scale = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  return ((const float *) scale->data)[0];
}

/* Weights bring the scales with which they were trained. */
static void
test_scales (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigRun) run = new_run (f, "linear(16, recipe=fp8-delayed) ! mean-squared-error",
                                    "32x32", "synthetic?samples=64", "steps=3 lr=0.01");
  finish (run);
  const char *checkpoint = lig_run_get_checkpoint (run);
  g_autofree char *note = NULL, *remark = NULL, *plain = in_folder (f, "plain.safetensors");
  g_autoptr (LigTensorFile) from = lig_tensor_file_load (checkpoint, &error);
  g_autoptr (LigTensor) scale = lig_tensor_file_get (from, "quantizer.0.input.scale", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (((const float *) scale->data)[0], !=, 1);
  const char *recipe = "fp8-delayed";
  g_assert_cmpfloat (load_scale (f, checkpoint, recipe, "input", &note), ==,
                     ((const float *) scale->data)[0]);
  g_assert_null (note);
  /* Recipes with another format or margin map the same amax to their own largest number. */
  g_autoptr (LigTensor) hybrid = lig_tensor_file_get (from, "quantizer.0.gradient.scale", &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (
    load_scale (f, checkpoint, "fp8-delayed:format=e4m3,margin=2", "gradient", &note), ==,
    ((const float *) hybrid->data)[0] * (448.0f / 57344) / 4);
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  for (const char *const *name = lig_tensor_file_get_names (from); *name; name++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (from, *name, &error);
    if (g_str_has_prefix (*name, "0."))
      lig_tensor_file_add (weights, *name, tensor);
  }
  g_assert_true (lig_tensor_file_save (weights, plain, &error));
  g_assert_cmpfloat (load_scale (f, plain, recipe, "input", &remark), ==, 1);
  g_assert_cmpstr (remark, ==, "it has no scales; fp8-delayed starts with scales of 1");
}

/* The recipe's block size does not divide the features of one weight; an embedding is not a
 * matmul. */
#define MIXED \
  "embedding(32, vocabulary=256) ! layer-norm ! linear(64, recipe=%1$s) ! gelu ! " \
  "linear(32, recipe=%1$s) ! reshape([256, 32]) ! linear(24, recipe=%1$s) ! " \
  "linear(32, recipe=%1$s) ! linear(256, bias=false, recipe=%1$s) ! cross-entropy"

static LigRun *
new_typed (Fixture *f, const char *recipe, const char *dtype, const char *more)
{
  g_autofree char *expression = g_strdup_printf (MIXED, recipe);
  g_autofree char *readme = g_strdup_printf ("text:%s/LICENSE", g_getenv ("LIGATURE_SOURCE"));
  g_autofree char *settings =
    g_strdup_printf ("dtype=%s lr=0.01 clip=0.01 eval-every=10 %s", dtype, more);
  return new_run (f, expression, "8x32:int32", readme, settings);
}

/* Parameters in fp8 give the bits of parameters in bf16, also from a checkpoint. */
static void
test_parameters (Fixture *f, gconstpointer recipe)
{
  static const char *const optimizers[] = {"optimizer=sgd", "optimizer=sgd momentum=0.9",
                                           "optimizer=adamw", "optimizer=adamw accumulate=2"};
  for (guint i = 0; i < G_N_ELEMENTS (optimizers); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *all = g_strconcat ("steps=24 ", optimizers[i], NULL);
    g_autofree char *some = g_strconcat ("steps=11 ", optimizers[i], NULL);
    g_autoptr (LigRun) stored = new_typed (f, recipe, "bf16:bf16", all);
    g_autoptr (LigRun) kept = new_typed (f, recipe, "bf16:fp8", all);
    LigRunProgress a = finish (stored), b = finish (kept);
    g_assert_cmpfloat (a.loss, ==, b.loss);
    g_assert_cmpfloat (a.eval_loss, ==, b.eval_loss);
    assert_same_tensors (lig_run_get_checkpoint (stored), lig_run_get_checkpoint (kept));
    g_autoptr (LigRun) first = new_typed (f, recipe, "bf16:fp8", some);
    finish (first);
    g_autofree char *checkpoint = saved (f, first, "kept.safetensors");
    g_autoptr (LigRun) second = resume (f, checkpoint, "steps=24", &error);
    g_assert_no_error (error);
    finish (second);
    assert_same_tensors (lig_run_get_checkpoint (stored), lig_run_get_checkpoint (second));
  }
}

static LigPlan *
compile_typed (Fixture *f, const char *recipe, int compute, int parameters, GError **error)
{
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    lig_sequence_from_expression ("linear(64, bias=false) ! linear(24) ! linear(16)", NULL);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 32, (gint64) 32);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  options.optimizer = &optimizer;
  options.compute = compute;
  options.parameters = parameters;
  options.recipe = recipe;
  return lig_plan_compile (sequence, f->device, &options, error);
}

/* The state has two bytes less for each weight of a quantized matmul. */
static void
test_bytes (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) stored = compile_typed (f, "fp8-rows", LIG_BF16, LIG_BF16, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) kept = compile_typed (f, "fp8-rows", LIG_BF16, LIG_FP8_E4M3, &error);
  g_assert_no_error (error);
  g_assert_cmpint (lig_plan_get_state_bytes (kept), ==,
                   lig_plan_get_state_bytes (stored) - 2 * 64 * 32);
  g_assert_cmpstr (lig_plan_get_parameters_name (kept), ==, "fp8");
  g_assert_cmpstr (lig_plan_get_parameters_name (stored), ==, "bf16");
}

static void
test_rejected (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *recipe, *text;
    int compute;
  } cases[] = {
    {"none", "no matmul has one", LIG_BF16},
    {"fp8-rows", "expected a 16-bit compute type", LIG_FP32},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (compile_typed (f, cases[i].recipe, cases[i].compute, LIG_FP8_E4M3, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_DTYPE);
    g_assert_nonnull (strstr (error->message, cases[i].text));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++) {
    g_autofree char *path = g_strdup_printf ("/quantized/resume/%s", recipes[i]);
    g_autofree char *loss = g_strdup_printf ("/quantized/loss/%s", recipes[i]);
    g_test_add (path, Fixture, recipes[i], set_up, test_resume, tear_down);
    g_test_add (loss, Fixture, recipes[i], set_up, test_loss, tear_down);
    g_autofree char *parameters = g_strconcat ("/quantized/parameters/", recipes[i], NULL);
    g_test_add (parameters, Fixture, recipes[i], set_up, test_parameters, tear_down);
    g_autofree char *mixture = g_strconcat ("/quantized/mixture/", recipes[i], NULL);
    g_autofree char *overflow = g_strconcat ("/quantized/overflow/", recipes[i], NULL);
    if (i > 0)
      g_test_add (mixture, Fixture, recipes[i], set_up, test_mixture, tear_down);
    g_test_add (overflow, Fixture, recipes[i], set_up, test_overflow, tear_down);
  }
  g_test_add ("/quantized/bytes", Fixture, NULL, set_up, test_bytes, tear_down);
  g_test_add ("/quantized/rejected", Fixture, NULL, set_up, test_rejected, tear_down);
  g_test_add ("/quantized/names", Fixture, NULL, set_up, test_names, tear_down);
  g_test_add ("/quantized/spoilt", Fixture, NULL, set_up, test_spoilt, tear_down);
  g_test_add ("/quantized/scales", Fixture, NULL, set_up, test_scales, tear_down);
  return g_test_run ();
}
