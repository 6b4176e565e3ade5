/* SPDX-License-Identifier: MIT */
/* Tests accumulated gradients, skipped updates, the loss scale, and weight decay, on any device. */
#pragma once

#include "engine/program/results.h"
#include "tests/plan/case.h"
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>

/* A state on the device, with parameters that depend on their names, and a plan with its inputs
 * set. */
typedef struct {
  LigSequence *sequence;
  LigState *state;
  LigProgram *program;
} Setup;

static inline void
setup_clear (Setup *self)
{
  g_clear_pointer (&self->program, lig_program_unref);
  g_clear_object (&self->state);
  g_clear_object (&self->sequence);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Setup, setup_clear)

/* Runs the given plan, or compiles one if it is null. Separately measured plans may have different
 * fusions, which round differently, so programs that are compared bit by bit share one plan. */
static inline Setup
set_up_plan (LigDevice *device,
             const char *expression,
             const char *input,
             const LigPlanOptions *options,
             LigPlan *plan)
{
  g_autoptr (GError) error = NULL;
  Setup self = {.sequence = new_sequence (expression, input)};
  self.state = lig_state_new (self.sequence, device, options, 7, &error);
  if (error)
    g_error ("%s: %s", expression, error->message);
  for (const char *const *path = lig_state_get_paths (self.state); *path; path++) {
    g_autoptr (LigTensor) old = lig_state_get (self.state, LIG_STATE_PARAMETERS, *path, &error);
    g_assert_no_error (error);
    g_autoptr (LigTensor) tensor = named_tensor (*path, LIG_FP32, &old->shape, 1);
    g_assert_true (lig_state_set (self.state, LIG_STATE_PARAMETERS, *path, tensor, &error));
  }
  self.program = plan ? lig_program_new (plan, self.state, &error)
                      : new_program (self.state, self.sequence, options);
  g_assert_no_error (error);
  feed_inputs (self.program);
  lig_program_keep_gradients (self.program);
  feed_gradients (self.program);
  return self;
}

static inline Setup
set_up_program (LigDevice *device,
                const char *expression,
                const char *input,
                const LigPlanOptions *options)
{
  return set_up_plan (device, expression, input, options, NULL);
}

static inline double
read_norm (LigProgram *program)
{
  g_autoptr (GError) error = NULL;
  float norm = NAN;
  lig_program_read_gradient_norm (program, &norm, &error);
  g_assert_no_error (error);
  return (double) norm;
}

static inline LigTensor *
read_array (LigState *state, LigStateArray array, const char *path)
{
  g_autoptr (GError) error = NULL;
  LigTensor *tensor = lig_state_get (state, array, path, &error);
  if (error)
    g_error ("%s", error->message);
  return tensor;
}

static inline LigScaling
read_scaling (LigState *state)
{
  g_autoptr (GError) error = NULL;
  LigScaling scaling;
  lig_state_get_scaling (state, &scaling, &error);
  g_assert_no_error (error);
  return scaling;
}

enum { MICRO_STEPS = 1024 };

/* Checks that n equal gradients of 16-bit parameters sum to n times one of them. */
static inline void
check_sum (
  LigDevice *device, const char *expression, const char *input, LigPlanOptions options, int times)
{
  g_auto (Setup) once = set_up_program (device, expression, input, &options);
  g_auto (Setup) often = set_up_program (device, expression, input, &options);
  run_program (once.program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  for (int i = 0; i < times; i++)
    run_program (often.program,
                 LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  for (const char *const *path = lig_state_get_paths (once.state); *path; path++) {
    g_autoptr (LigTensor) want = read_array (once.state, LIG_STATE_GRADIENTS, *path);
    g_autoptr (LigTensor) got = read_array (often.state, LIG_STATE_GRADIENTS, *path);
    for (gint64 i = 0; i < want->size; i++)
      lig_tensor_set (want, i, (float) times * lig_tensor_get (want, i));
    g_assert_cmpint (got->dtype, ==, LIG_FP32);
    double distance = distance_between (got, want);
    if (distance > 1e-4)
      g_test_message ("%s: the sum for %s is off by %g", expression, *path, distance);
    g_assert_cmpfloat (distance, <=, 1e-4);
  }
}

static inline void
check_sums (LigDevice *device)
{
  static const char *const cases[][2] = {
    {"bias", "5x8"},
    {"linear(6)", "5x8"},
    {"linear(40)", "48x64"},
    {"layer-norm", "5x8"},
    {"rms-norm", "48x64"},
    {"embedding(8, vocabulary=9)", "5x4:int32"},
    {"bias ! gelu", "5x8"},
    {"bias ! swiglu", "48x64"},
    {"linear(16) ! gelu ! linear(8)", "16x32"},
    {"make-extra-output(to=r) ! layer-norm ! linear(8) ! add-extra-input(from=r)", "5x8"},
  };
  /* These sizes use different kernels, or different paths in the same kernels. */
  static const char *const large[][2] = {
    {"layer-norm", "4096x1024"},
    {"rms-norm", "600x8192"},
    {"layer-norm", "3000x33"},
    {"embedding(256, vocabulary=300)", "4096:int32"},
    {"linear(512)", "2048x768"},
    {"bias ! swiglu", "2048x1024"},
    {"linear(256) ! gelu ! linear(128)", "512x512"},
    {"make-extra-output(to=r) ! rms-norm ! linear(256) ! add-extra-input(from=r)", "2048x256"},
  };
  for (guint i = 0; i < (G_N_ELEMENTS (cases) + G_N_ELEMENTS (large)) * 4; i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.compute = options.parameters = i % 2 ? LIG_FP16 : LIG_BF16;
    options.policy = i / 2 % 2 ? LIG_POLICY_ALL : LIG_POLICY_NONE;
    options.accumulate = TRUE;
    if (i / 4 < G_N_ELEMENTS (cases))
      check_sum (device, cases[i / 4][0], cases[i / 4][1], options, MICRO_STEPS);
    else
      check_sum (device, large[i / 4 - G_N_ELEMENTS (cases)][0],
                 large[i / 4 - G_N_ELEMENTS (cases)][1], options, 7);
  }
}

/* Checks that 1,024 gradients of 1 in bf16 sum to 1,024, not 256. */
static inline void
check_ones (LigDevice *device)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = options.parameters = LIG_BF16;
  options.accumulate = TRUE;
  g_auto (Setup) setup = set_up_program (device, "bias", "1x4", &options);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) 4);
  g_autoptr (LigTensor) ones = lig_tensor_new (LIG_FP32, &shape, &error);
  for (int i = 0; i < 4; i++)
    lig_tensor_set (ones, i, 1);
  g_assert_true (lig_program_set_gradient (setup.program, ones, &error));
  for (int i = 0; i < MICRO_STEPS; i++)
    run_program (setup.program,
                 LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  g_autoptr (LigTensor) sum = read_array (setup.state, LIG_STATE_GRADIENTS, "0.bias");
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat (lig_tensor_get (sum, i), ==, MICRO_STEPS);
}

static inline void
update_once (LigProgram *program, double clip)
{
  lig_program_set_rate (program, 0.05, clip);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
}

/* Compares every array except the gradients bit by bit; arrays missing from both states count as
 * equal. */
static inline void
expect_same_arrays (LigState *a, LigState *b, const char *what)
{
  for (const char *const *path = lig_state_get_paths (a); *path; path++)
    for (int array = 0; array < LIG_MAX_STATE_ARRAYS; array++) {
      if (array == LIG_STATE_GRADIENTS)
        continue;
      g_autoptr (LigTensor) x = lig_state_get (a, (LigStateArray) array, *path, NULL);
      g_autoptr (LigTensor) y = lig_state_get (b, (LigStateArray) array, *path, NULL);
      gboolean same = !x == !y && (!x || memcmp (x->data, y->data, lig_tensor_bytes (x)) == 0);
      if (!same)
        g_test_message ("%s: array %d of %s differs bitwise, the first element %.9g and %.9g", what,
                        array, *path, x ? lig_tensor_get (x, 0) : NAN,
                        y ? lig_tensor_get (y, 0) : NAN);
      g_assert_true (same);
    }
}

/* Checks that a non-finite gradient skips the update, and that later updates behave as if it had
 * not happened. */
static inline void
check_skipped_update (LigDevice *device, const LigPlanOptions *options, double clip, float bad)
{
  g_autoptr (GError) error = NULL;
  g_auto (Setup) skipping =
    set_up_program (device, "linear(3) ! mean-squared-error", "8x5", options);
  g_auto (Setup) reference = set_up_plan (device, "linear(3) ! mean-squared-error", "8x5", options,
                                          lig_program_get_plan (skipping.program));
  for (int i = 0; i < 2; i++) {
    update_once (skipping.program, clip);
    update_once (reference.program, clip);
  }
  g_autoptr (LigTensor) gradient = read_array (skipping.state, LIG_STATE_GRADIENTS, "0.weight");
  lig_tensor_set (gradient, 4, bad);
  g_assert_true (lig_state_set (skipping.state, LIG_STATE_GRADIENTS, "0.weight", gradient, &error));
  run_program (skipping.program, LIG_RUN_UPDATE);
  expect_same_arrays (skipping.state, reference.state, "after a skipped update");
  LigScaling scaling = read_scaling (skipping.state);
  g_assert_cmpfloat (scaling.consecutive_skipped, ==, 1);
  g_assert_cmpfloat (scaling.skipped, ==, 1);
  g_assert_cmpuint (lig_state_get_step (skipping.state), ==, 3);
  update_once (skipping.program, clip);
  update_once (reference.program, clip);
  expect_same_arrays (skipping.state, reference.state, "one update later");
  g_assert_cmpfloat (read_scaling (skipping.state).consecutive_skipped, ==, 0);
  g_assert_cmpfloat (read_scaling (skipping.state).skipped, ==, 1);
  g_autoptr (LigTensor) weight = read_array (skipping.state, LIG_STATE_PARAMETERS, "0.weight");
  for (gint64 i = 0; i < weight->size; i++)
    g_assert_true (isfinite (lig_tensor_get (weight, i)));
}

static inline void
check_skipped_updates (LigDevice *device)
{
  static const LigDtype types[] = {LIG_FP32, LIG_FP16, LIG_BF16};
  for (int i = 0; i < 3 * 3 * 4; i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
    if (i % 3 != 2)
      optimizer = (LigOptimizer){.name = "sgd", .sgd = {.momentum = i % 3 == 1 ? 0.9f : 0}};
    optimizer.loss_scale = 1;
    options.compute = LIG_FP32;
    options.parameters = (int) types[i / 3 % 3];
    options.optimizer = &optimizer;
    check_skipped_update (device, &options, i / 9 % 2, i / 18 ? INFINITY : NAN);
  }
}

static inline LigPlanOptions
half_options (const LigOptimizer *optimizer)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = options.parameters = LIG_FP16;
  options.optimizer = optimizer;
  options.input_gradient = TRUE;
  return options;
}

static inline void
feed_targets (LigProgram *program, float factor)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_extra_input (lig_program_get_plan (program), 0, &shape, &dtype);
  g_autoptr (LigTensor) targets = named_tensor ("targets", dtype, &shape, 2);
  for (gint64 i = 0; i < targets->size; i++)
    lig_tensor_set (targets, i, factor * lig_tensor_get (targets, i));
  g_assert_true (lig_program_set_extra_input (program, 0, targets, &error));
}

/* Tests gradients so large that the loss scale must decrease: each overflow leaves the weights
 * unchanged, and training then continues. */
static inline void
check_overflow (LigDevice *device)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = half_options (&optimizer);
  g_auto (Setup) setup = set_up_program (device, "linear(3) ! mean-squared-error", "8x5", &options);
  g_autoptr (LigTensor) before = read_array (setup.state, LIG_STATE_PARAMETERS, "0.weight");
  float scale = LIG_FIRST_SCALE;
  int skipped = 0;
  g_assert_true (lig_plan_scales_loss (lig_program_get_plan (setup.program)));
  feed_targets (setup.program, 100);
  for (;;) {
    update_once (setup.program, 0);
    LigScaling scaling = read_scaling (setup.state);
    g_autoptr (LigTensor) now = read_array (setup.state, LIG_STATE_PARAMETERS, "0.weight");
    gboolean same = memcmp (before->data, now->data, lig_tensor_bytes (now)) == 0;
    if (scaling.consecutive_skipped == 0 || skipped == 20) {
      g_assert_false (same);
      g_assert_cmpfloat (scaling.scale, ==, scale);
      break;
    }
    skipped++;
    scale /= 2;
    g_assert_true (same);
    g_assert_cmpfloat (scaling.scale, ==, scale);
    g_assert_cmpfloat (scaling.skipped, ==, skipped);
  }
  g_test_message ("%d updates were skipped", skipped);
  g_assert_cmpint (skipped, >, 2);
  g_assert_cmpint (skipped, <, 20);
}

/* The caller reads gradients as in fp32, even if fp16 without a scale would flush them to zero. */
static inline void
check_small_gradients (LigDevice *device)
{
  static const char expression[] = "linear(3) ! constant-scale(1e-7) ! mean-squared-error";
  static const char *const paths[] = {"0.weight", "0.bias"};
  LigOptimizer scaled = LIG_OPTIMIZER_INIT, plain = LIG_OPTIMIZER_INIT;
  plain.loss_scale = 1;
  LigPlanOptions options = half_options (&scaled), without = half_options (&plain);
  LigPlanOptions exactly = half_options (&plain);
  exactly.compute = exactly.parameters = LIG_FP32;
  g_auto (Setup) half = set_up_program (device, expression, "8x5", &options);
  g_auto (Setup) lost = set_up_program (device, expression, "8x5", &without);
  g_auto (Setup) exact = set_up_program (device, expression, "8x5", &exactly);
  Setup *all[] = {&half, &lost, &exact};
  for (int i = 0; i < 3; i++) {
    feed_targets (all[i]->program, 1);
    update_once (all[i]->program, 0);
  }
  g_assert_false (lig_plan_scales_loss (lig_program_get_plan (lost.program)));
  g_assert_false (lig_plan_scales_loss (lig_program_get_plan (exact.program)));
  double norm = read_norm (exact.program);
  g_assert_cmpfloat (read_norm (lost.program), ==, 0);
  g_assert_cmpfloat_with_epsilon (read_norm (half.program), norm, 5e-3 * norm);
  for (int i = 0; i < 2; i++) {
    g_autoptr (LigTensor) got = read_array (half.state, LIG_STATE_GRADIENTS, paths[i]);
    g_autoptr (LigTensor) want = read_array (exact.state, LIG_STATE_GRADIENTS, paths[i]);
    g_assert_cmpint (got->dtype, ==, LIG_FP32);
    g_assert_cmpfloat (distance_between (got, want), <, 5e-3);
  }
}

/* The input gradient is also unscaled; and a plan without a scale, used after one with a scale,
 * reads its gradients unscaled. */
static inline void
check_unscaled (LigDevice *device)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer scaled = LIG_OPTIMIZER_INIT, plain = LIG_OPTIMIZER_INIT;
  plain.loss_scale = 1;
  LigPlanOptions options = half_options (&scaled), without = half_options (&plain);
  const LigScaling start = {.scale = 256};
  g_auto (Setup) setup = set_up_program (device, "linear(3) ! mean-squared-error", "8x5", &options);
  g_assert_true (lig_state_set_scaling (setup.state, &start, &error));
  run_program (setup.program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (LigTensor) input = lig_program_read_input_gradient (setup.program, &error);
  g_autoptr (LigTensor) weight = read_array (setup.state, LIG_STATE_GRADIENTS, "0.weight");
  g_assert_cmpfloat (read_scaling (setup.state).carried, ==, 256);
  g_autoptr (LigProgram) other = new_program (setup.state, setup.sequence, &without);
  feed_inputs (other);
  run_program (other, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (LigTensor) own_input = lig_program_read_input_gradient (other, &error);
  g_autoptr (LigTensor) own = read_array (setup.state, LIG_STATE_GRADIENTS, "0.weight");
  g_assert_no_error (error);
  g_assert_cmpfloat (distance_between (input, own_input), <, 2e-3);
  g_assert_cmpfloat (distance_between (weight, own), <, 2e-3);
  g_assert_cmpfloat (read_scaling (setup.state).carried, ==, 1);
}

/* With zero gradients, a decaying parameter shrinks by rate times decay, and others do not
 * change. */
static inline void
check_decay (LigDevice *device)
{
  static const char expression[] =
    "embedding(8, vocabulary=6) ! layer-norm([4, 8]) ! rms-norm([4, 8]) ! linear(3)";
  static const struct {
    const char *path;
    gboolean decays;
  } wanted[] = {{"0.weight", TRUE},  {"1.weight", FALSE}, {"1.bias", FALSE},
                {"2.weight", FALSE}, {"3.weight", TRUE},  {"3.bias", FALSE}};
  const LigOptimizerInfo *info;
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++) {
    g_autoptr (GError) error = NULL;
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    LigOptimizer optimizer;
    g_assert_true (lig_optimizer_init (&optimizer, info->name, &error));
    if (!info->decay)
      continue;
    g_assert_true (lig_optimizer_set (&optimizer, info->decay, 0.5, &error));
    options.optimizer = &optimizer;
    g_auto (Setup) setup = set_up_program (device, expression, "5x4:int32", &options);
    LigShape shape;
    lig_shape_init (&shape, 3, (gint64) 5, (gint64) 4, (gint64) 3);
    g_autoptr (LigTensor) zero = lig_tensor_new (LIG_FP32, &shape, &error);
    g_assert_true (lig_program_set_gradient (setup.program, zero, &error));
    g_autoptr (GPtrArray) old = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
    for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
      g_ptr_array_add (old, read_array (setup.state, LIG_STATE_PARAMETERS, wanted[i].path));
    lig_program_set_rate (setup.program, 0.1, 0);
    run_program (setup.program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
      g_autoptr (LigTensor) now = read_array (setup.state, LIG_STATE_PARAMETERS, wanted[i].path);
      double factor = wanted[i].decays ? 0.95 : 1;
      for (gint64 j = 0; j < now->size; j++)
        g_assert_cmpfloat_with_epsilon ((double) lig_tensor_get (now, j),
                                        factor * (double) lig_tensor_get (old->pdata[i], j), 1e-6);
    }
  }
}
