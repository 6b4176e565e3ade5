/* SPDX-License-Identifier: MIT */
/* Tests gradients and updates on the CPU: sums in fp32, updates that write nothing, the loss scale,
 * and weight decay. */
#include "tests/plan/update-case.h"

static void
test_sums (void)
{
  check_sums (cpu_device ());
}

static void
test_ones (void)
{
  check_ones (cpu_device ());
}

/* Sums in 16 bits are an error, as are two types in one state. */
static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.parameters = LIG_BF16;
  options.compute = LIG_FP32;
  g_auto (Setup) setup = set_up_program (cpu_device (), "linear(3)", "8x5", &options);
  run_program (setup.program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_assert_false (lig_program_run (
    setup.program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_ACCUMULATE, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DTYPE);
  g_assert_nonnull (strstr (error->message, "stored in bf16"));
  g_clear_error (&error);
  options.accumulate = TRUE;
  g_autoptr (LigPlan) wider = lig_state_plan (setup.state, setup.sequence, &options, &error);
  g_assert_no_error (error);
  g_assert_null (lig_program_new (wider, setup.state, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DTYPE);
  g_clear_error (&error);
  options.training = FALSE;
  g_autoptr (LigPlan) reads = lig_state_plan (setup.state, setup.sequence, &options, &error);
  g_autoptr (LigProgram) evaluates = reads ? lig_program_new (reads, setup.state, &error) : NULL;
  g_assert_no_error (error);
}

/* The first plan decides the type, not the options of the state. */
static void
test_first_plan (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.parameters = LIG_BF16;
  options.compute = LIG_FP32;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3)", "8x5");
  g_autoptr (LigState) state = new_state (sequence, &options);
  options.accumulate = TRUE;
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_ACCUMULATE);
  g_autoptr (LigTensor) gradient = read_array (state, LIG_STATE_GRADIENTS, "0.weight");
  g_assert_cmpint (gradient->dtype, ==, LIG_FP32);
  g_assert_cmpint (lig_plan_get_state_bytes (lig_program_get_plan (program)), ==,
                   (64 + 64) * (2 + 4));
}

static void
test_skipped (void)
{
  check_skipped_updates (cpu_device ());
}

static void
test_overflow (void)
{
  check_overflow (cpu_device ());
}

static void
test_small (void)
{
  check_small_gradients (cpu_device ());
}

static void
test_unscaled (void)
{
  check_unscaled (cpu_device ());
}

/* Gradients from the caller are not scaled, unless the caller sets a factor. */
static void
test_no_loss (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = half_options (&optimizer);
  g_auto (Setup) plain = set_up_program (cpu_device (), "linear(3)", "8x5", &options);
  g_assert_false (lig_plan_scales_loss (lig_program_get_plan (plain.program)));
  optimizer.loss_scale = 64;
  g_auto (Setup) fixed = set_up_program (cpu_device (), "linear(3)", "8x5", &options);
  g_assert_true (lig_plan_scales_loss (lig_program_get_plan (fixed.program)));
  update_once (plain.program, 0);
  update_once (fixed.program, 0);
  g_assert_cmpfloat (read_scaling (fixed.state).carried, ==, 64);
  g_assert_cmpfloat_with_epsilon (read_norm (fixed.program), read_norm (plain.program), 1e-3);
  expect_same_arrays (plain.state, fixed.state, "a factor of 64");
}

static void
test_decay (void)
{
  check_decay (cpu_device ());
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/update/sums", test_sums);
  g_test_add_func ("/update/ones", test_ones);
  g_test_add_func ("/update/rejected", test_rejected);
  g_test_add_func ("/update/first-plan", test_first_plan);
  g_test_add_func ("/update/skipped", test_skipped);
  g_test_add_func ("/update/overflow", test_overflow);
  g_test_add_func ("/update/small", test_small);
  g_test_add_func ("/update/unscaled", test_unscaled);
  g_test_add_func ("/update/no-loss", test_no_loss);
  g_test_add_func ("/update/decay", test_decay);
  return g_test_run ();
}
