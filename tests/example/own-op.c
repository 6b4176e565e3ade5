/* SPDX-License-Identifier: MIT */
/* An op with its own kernels, and a fusion with the bias before it:
 *
 *   cc own-op.c -o own-op $(pkg-config --cflags --libs ligature) */
#include <ligature/check.h>
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/lowering.h>
#include <ligature/register.h>

#include <stdio.h>

/* y = x^2, and y = (x + bias)^2 with the sum kept for the backward pass. */
static LigStatus
run_square (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data;
  float *y = o[1].data;
  for (int64_t i = 0; i < o[0].size; i++)
    y[i] = x[i] * x[i];
  return LIG_OK;
}

static LigStatus
run_square_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *dy = o[0].data, *x = o[1].data;
  float *dx = o[2].data;
  for (int64_t i = 0; i < o[0].size; i++)
    dx[i] = 2 * x[i] * dy[i];
  return LIG_OK;
}

static LigStatus
run_bias_square (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data, *bias = o[1].data;
  float *sum = o[2].data, *y = o[3].data;
  for (int64_t i = 0; i < o[0].size; i++) {
    float value = x[i] + bias[i % o[0].columns];
    if (sum) /* absent in a plan without a backward pass */
      sum[i] = value;
    y[i] = value * value;
  }
  return LIG_OK;
}

static const LigKernel kernels[] = {
  {.size = sizeof (LigKernel),
   .name = "square",
   .signature = "x -> y",
   .work = 1,
   .types = LIG_TYPES (LIG_FP32),
   .functions = {run_square}},
  {.size = sizeof (LigKernel),
   .name = "square_backward",
   .signature = "dy x -> dx",
   .work = 2,
   .types = LIG_TYPES (LIG_FP32),
   .functions = {run_square_backward}},
  {.size = sizeof (LigKernel),
   .name = "bias_square",
   .signature = "x bias -> sum y",
   .work = 2,
   .types = LIG_TYPES (LIG_FP32),
   .functions = {run_bias_square}},
};

static const LigOpInfo square = {
  LIG_OP_INFO_SIZES,
  .name = "square",
  .title = "Square",
  .category = "Activation",
  .summary = "Squares each element",
  .formula = "y = x^2",
  .example = "square @ 4x16",
  .forward = "square",
  .backward = "square_backward",
  .saves = "x",
};

static void
lower (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "bias_square", "x=0.x bias=0.bias sum=0.y y=1.y", NULL, 0);
}

static const LigFusion bias_square = {
  .size = sizeof (LigFusion),
  .name = "forward-bias-square",
  .pass = LIG_PASS_FORWARD,
  .summary = "Adds the bias and squares in one pass over memory",
  .pattern = "bias square",
  .lower = lower,
};

static gboolean
run (GError **error)
{
  for (int i = 0; i < 3; i++)
    if (!lig_register_kernel (&kernels[i], error))
      return FALSE;
  if (!lig_register_op (&square, error) || !lig_register_fusion (&bias_square, TRUE, error))
    return FALSE;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", error);
  g_autoptr (LigSequence) sequence =
    device ? lig_sequence_from_expression ("linear(8) ! square ! linear(2)", error) : NULL;
  if (!sequence)
    return FALSE;
  LigShape input;
  lig_shape_init (&input, 2, (gint64) 4, (gint64) 6);
  lig_sequence_set_input (sequence, &input, LIG_FP32);

  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, NULL, error);
  if (!plan || !lig_check_gradients (sequence, device, NULL, 0, NULL, error))
    return FALSE;
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    printf ("%s over %d\n", groups[i].fusion ? groups[i].fusion->name : "unfused", groups[i].count);
  printf ("the gradients are right\n");
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  if (run (&error))
    return 0;
  fprintf (stderr, "own-op: %s\n", error->message);
  return 1;
}
