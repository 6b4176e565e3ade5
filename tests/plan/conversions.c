/* SPDX-License-Identifier: MIT */
/* Tests the copies of parameters in the compute type: they are recomputed only after the parameters
 * have changed, whatever changed them. */
#include "tests/plan/case.h"

#include "engine/program/private.h"
#include "engine/program/results.h"
#include <ligature/optimizer.h>

static const char network[] =
  "linear(7) ! layer-norm ! gelu ! linear(6) ! silu ! linear(4, bias=false) ! mean-squared-error";

#define N_MATMULS 3

static guint launches;
static LigKernelFunc convert;

static LigStatus
count (LigLaunch *launch)
{
  launches++;
  return convert (launch);
}

/* Counts the launches of steps that depend only on parameters. */
static void
watch (LigProgram *program)
{
  for (int i = 0; i < program->plan->phases.forward; i++) {
    convert = program->run->steps[i].function == count ? convert : program->run->steps[i].function;
    program->run->steps[i].function = count;
  }
}

static guint
take (void)
{
  guint taken = launches;
  launches = 0;
  return taken;
}

static LigPlanOptions
mixed (const LigOptimizer *optimizer)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = LIG_BF16;
  options.parameters = LIG_FP32;
  options.optimizer = optimizer;
  return options;
}

#define STEP (LIG_RUN_FORWARD | LIG_RUN_BACKWARD)

static void
test_once_per_update (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = mixed (&optimizer);
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  guint n_steps;
  const LigPlanStep *steps = lig_plan_get_steps (lig_program_get_plan (program), &n_steps);
  for (guint i = 0; i < n_steps; i++)
    g_assert_cmpint (steps[i].once, ==, i < N_MATMULS);
  watch (program);
  feed_inputs (program);
  lig_program_set_rate (program, 0.05, 0);
  for (int update = 0; update < 3; update++) {
    run_program (program, STEP);
    g_assert_cmpuint (take (), ==, N_MATMULS);
    run_program (program, STEP | LIG_RUN_ACCUMULATE);
    run_program (program, STEP | LIG_RUN_ACCUMULATE | LIG_RUN_UPDATE);
    g_assert_cmpuint (take (), ==, 0);
  }
  run_program (program, STEP | LIG_RUN_UPDATE);
  run_program (program, STEP | LIG_RUN_UPDATE);
  g_assert_cmpuint (take (), ==, 2 * N_MATMULS);
  run_program (program, LIG_RUN_FORWARD);
  run_program (program, LIG_RUN_BACKWARD);
  run_program (program, LIG_RUN_FORWARD);
  run_program (program, LIG_RUN_UPDATE);
  g_assert_cmpuint (take (), ==, N_MATMULS);
}

/* Trains; `afresh` recomputes all copies in each run. */
static LigState *
train (gboolean afresh, LigPolicy policy)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = mixed (&optimizer);
  options.policy = policy;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  LigState *state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  lig_program_set_rate (program, 0.05, 1);
  for (int i = 0; i < 9; i++) {
    if (afresh)
      program->converted = 0;
    run_program (program,
                 STEP | (i % 3 > 0 ? LIG_RUN_ACCUMULATE : 0) | (i % 3 == 2 ? LIG_RUN_UPDATE : 0));
  }
  return state;
}

static void
test_same_bits (void)
{
  for (int policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
    g_autoptr (LigState) kept = train (FALSE, (LigPolicy) policy);
    g_autoptr (LigState) afresh = train (TRUE, (LigPolicy) policy);
    for (const char *const *path = lig_state_get_paths (kept); *path; path++) {
      g_autoptr (LigTensor) a = lig_state_get (kept, LIG_STATE_PARAMETERS, *path, NULL);
      g_autoptr (LigTensor) b = lig_state_get (afresh, LIG_STATE_PARAMETERS, *path, NULL);
      g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
    }
  }
}

static LigTensor *
read_output (LigProgram *program)
{
  g_autoptr (GError) error = NULL;
  run_program (program, LIG_RUN_FORWARD);
  LigTensor *output = lig_program_read_output (program, &error);
  g_assert_no_error (error);
  return output;
}

/* Returns the output of a program's first run. */
static LigTensor *
read_afresh (LigState *state, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  feed_inputs (program);
  return read_output (program);
}

/* Two programs share a state: each sees updates by the other, and weights that are set. */
static void
test_shared_state (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = mixed (&optimizer), reads = mixed (NULL);
  g_autoptr (GError) error = NULL;
  reads.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) trains = new_program (state, sequence, &options);
  g_autoptr (LigProgram) evaluates = new_program (state, sequence, &reads);
  watch (trains);
  watch (evaluates);
  feed_inputs (trains);
  feed_inputs (evaluates);
  lig_program_set_rate (trains, 0.05, 0);
  g_autoptr (LigTensor) before = read_output (evaluates);
  g_assert_cmpuint (take (), ==, N_MATMULS);
  run_program (trains, STEP | LIG_RUN_UPDATE);
  g_assert_cmpuint (take (), ==, N_MATMULS);
  g_autoptr (LigTensor) after = read_output (evaluates);
  g_assert_cmpuint (take (), ==, N_MATMULS);
  g_autoptr (LigTensor) again = read_output (evaluates);
  g_assert_cmpuint (take (), ==, 0);
  g_autoptr (LigTensor) wanted = read_afresh (state, sequence, &reads);
  g_assert_cmpfloat (distance_between (after, before), >, 0);
  g_assert_cmpfloat (distance_between (after, wanted), ==, 0);
  g_assert_cmpfloat (distance_between (again, wanted), ==, 0);
  take ();
  g_autoptr (LigTensor) weight = lig_state_get (state, LIG_STATE_PARAMETERS, "3.weight", &error);
  g_autoptr (LigTensor) other = named_tensor ("other", LIG_FP32, &weight->shape, 1);
  g_assert_true (lig_state_set (state, LIG_STATE_PARAMETERS, "3.weight", other, &error));
  g_autoptr (LigTensor) set = read_output (evaluates);
  g_assert_cmpuint (take (), ==, N_MATMULS);
  g_autoptr (LigTensor) wanted_set = read_afresh (state, sequence, &reads);
  g_assert_cmpfloat (distance_between (set, after), >, 0);
  g_assert_cmpfloat (distance_between (set, wanted_set), ==, 0);
}

/* Weights that are read from a file. */
static void
test_loaded (void)
{
  LigPlanOptions options = mixed (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigState) drawn = lig_state_new (sequence, cpu_device (), &options, 3, &error);
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_assert_true (lig_state_store (drawn, file, FALSE, &error));
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  g_autoptr (LigTensor) before = read_output (program);
  g_assert_true (lig_state_load (state, file, &error));
  g_autoptr (LigTensor) after = read_output (program);
  g_autoptr (LigTensor) wanted = read_afresh (drawn, sequence, &options);
  g_assert_cmpfloat (distance_between (after, before), >, 0);
  g_assert_cmpfloat (distance_between (after, wanted), ==, 0);
}

/* Timing the steps updates the parameters and restores them. */
static void
test_timed (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = mixed (&optimizer);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  guint n_steps;
  lig_plan_get_steps (lig_program_get_plan (program), &n_steps);
  g_autofree double *seconds = g_new (double, n_steps);
  feed_inputs (program);
  lig_program_set_rate (program, 0.05, 0);
  g_autoptr (LigTensor) before = read_output (program);
  g_assert_true (lig_program_time_steps (program, seconds, &error));
  g_autoptr (LigTensor) after = read_output (program);
  g_assert_cmpfloat (distance_between (after, before), ==, 0);
  g_assert_true (lig_program_time_steps_freely (program, seconds, &error));
  g_autoptr (LigTensor) updated = read_output (program);
  g_autoptr (LigTensor) wanted = read_afresh (state, sequence, &options);
  g_assert_cmpfloat (distance_between (updated, wanted), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/conversions/once-per-update", test_once_per_update);
  g_test_add_func ("/conversions/same-bits", test_same_bits);
  g_test_add_func ("/conversions/shared-state", test_shared_state);
  g_test_add_func ("/conversions/loaded", test_loaded);
  g_test_add_func ("/conversions/timed", test_timed);
  return g_test_run ();
}
