/* SPDX-License-Identifier: MIT */
/* Trains a small sequence with only the installed library:
 *
 *   cc train.c -o train $(pkg-config --cflags --libs ligature)
 *
 * The task: y = the sum of the squares of four features, with a new random batch for each step. */
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/program.h>

#include <stdio.h>

enum { BATCH = 64, FEATURES = 4, STEPS = 400 };

static void
fill_batch (GRand *random, LigTensor *x, LigTensor *targets)
{
  for (gint64 row = 0; row < BATCH; row++) {
    double sum = 0;
    for (gint64 i = 0; i < FEATURES; i++) {
      double value = g_rand_double_range (random, -1, 1);
      lig_tensor_set (x, row * FEATURES + i, (float) value);
      sum += value * value;
    }
    lig_tensor_set (targets, row, (float) sum);
  }
}

static gboolean
train (LigSequence *sequence, LigTensor *x, LigTensor *targets, GError **error)
{
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", error);
  if (!device)
    return FALSE;
  /* The state has the parameters and moments, the plan the steps, the program the memory. */
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, error);
  g_autoptr (LigPlan) plan = state ? lig_state_plan (state, sequence, &options, error) : NULL;
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, error) : NULL;
  if (!program)
    return FALSE;

  const unsigned passes = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  lig_program_set_rate (program, 0.01, 0);
  for (int step = 1; step <= STEPS; step++) {
    float loss;
    fill_batch (random, x, targets);
    if (!lig_program_set_input (program, x, error) ||
        !lig_program_set_extra_input (program, 0, targets, error) ||
        !lig_program_run (program, passes, error) || !lig_program_read_loss (program, &loss, error))
      return FALSE;
    if (step == 1 || step % 100 == 0)
      printf ("step %d: loss %.4f\n", step, (double) loss);
  }
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  LigShape input, output;
  lig_shape_init (&input, 2, (gint64) BATCH, (gint64) FEATURES);
  lig_shape_init (&output, 2, (gint64) BATCH, (gint64) 1);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (
    "linear(32, init-std=0.5) ! gelu ! linear(1, init-std=0.2) ! mean-squared-error", &error);
  g_autoptr (LigTensor) x = sequence ? lig_tensor_new (LIG_FP32, &input, &error) : NULL;
  g_autoptr (LigTensor) targets = x ? lig_tensor_new (LIG_FP32, &output, &error) : NULL;
  if (targets)
    lig_sequence_set_input (sequence, &input, LIG_FP32);
  if (!targets || !train (sequence, x, targets, &error)) {
    fprintf (stderr, "train: %s\n", error->message);
    return 1;
  }
  return 0;
}
