/* SPDX-License-Identifier: MIT */
/* Trains a small sequence with nothing but the installed library:
 *
 *   cc train.c -o train $(pkg-config --cflags --libs ligature)
 *
 * The task: y = the sum of x's squares, four features, values drawn anew for each step. */
#include <engine/sequence.h>
#include <engine/state.h>

#include <stdio.h>

enum { BATCH = 64, FEATURES = 4, STEPS = 400 };

static void
draw_batch (GRand *random, LigTensor *x, LigTensor *targets)
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

/* One step: what goes in, then forward, backward and update at once. */
static gboolean
step (LigPlan *plan, LigTensor *x, LigTensor *targets, GError **error)
{
  return lig_plan_set_input (plan, x, error) &&
         lig_plan_set_extra_input (plan, 0, targets, error) &&
         lig_plan_run (plan, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE, error);
}

static gboolean
train (LigSequence *sequence, GError **error)
{
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", error);
  if (!device)
    return FALSE;
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, error);
  LigPlan *plan = state ? lig_state_plan (state, sequence, &options, error) : NULL;
  if (!plan)
    return FALSE;
  lig_plan_set_rate (plan, 0.01, 0);

  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) BATCH, (gint64) FEATURES);
  g_autoptr (LigTensor) x = lig_tensor_new (LIG_FP32, &shape, error);
  lig_shape_init (&shape, 2, (gint64) BATCH, (gint64) 1);
  g_autoptr (LigTensor) targets = lig_tensor_new (LIG_FP32, &shape, error);
  if (!x || !targets)
    return FALSE;

  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  for (int i = 0; i < STEPS; i++) {
    draw_batch (random, x, targets);
    if (!step (plan, x, targets, error))
      return FALSE;
    if (i == 0 || i == STEPS - 1)
      printf ("step %d: loss %.4f\n", i + 1, (double) lig_plan_read_loss (plan));
  }
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (
    "linear(32, init-std=0.5) ! gelu ! linear(1, init-std=0.2) ! mean-squared-error", &error);
  if (sequence) {
    LigShape input;
    lig_shape_init (&input, 2, (gint64) BATCH, (gint64) FEATURES);
    lig_sequence_set_input (sequence, &input, LIG_FP32);
  }
  if (!sequence || !train (sequence, &error)) {
    fprintf (stderr, "train: %s\n", error->message);
    return 1;
  }
  return 0;
}
