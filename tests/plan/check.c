/* SPDX-License-Identifier: MIT */
/* Tests the gradient check for authors of ops: it accepts correct gradients under any policy, and
 * names the wrong element. The op here has custom kernels, used by name. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/register.h>

static gboolean
check (const char *expression,
       const char *input,
       LigPolicy policy,
       LigGradientCheck **worst,
       GError **error)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  return lig_check_gradients (sequence, cpu_device (), &options, 0, worst, error);
}

static void
test_right (void)
{
  static const char *const expressions[] = {
    "linear(3, init-std=1) ! gelu ! linear(2) ! mean-squared-error",
    "layer-norm ! linear(6) ! swiglu ! make-extra-output ! linear(4) ! add-extra-input",
    "dropout(0.5) ! rms-norm ! bias ! silu",
  };
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    for (int policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LigGradientCheck) worst = NULL;
      g_assert_true (check (expressions[i], "4x5", (LigPolicy) policy, &worst, &error));
      g_assert_no_error (error);
      g_assert_nonnull (worst->name);
      g_assert_cmpfloat (worst->distance, <=, 3e-3);
      g_assert_cmpfloat_with_epsilon (worst->gradient, worst->difference, 1e-2);
    }
}

static double backward_error; /* the error of the backward kernel in element 7 */

static LigStatus
run_square (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data;
  for (int64_t i = 0; i < o[0].size; i++)
    ((float *) o[1].data)[i] = x[i] * x[i];
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
  dx[7] += (float) backward_error;
  return LIG_OK;
}

static const LigKernel square = {.size = sizeof (LigKernel),
                                 .name = "check-square",
                                 .signature = "x -> y",
                                 .work = 1,
                                 .types = LIG_TYPES (LIG_FP32),
                                 .functions = {[LIG_BACKEND_CPU] = run_square}};
static const LigKernel square_backward = {.size = sizeof (LigKernel),
                                          .name = "check-square-backward-of-a-long-name",
                                          .signature = "dy x -> dx",
                                          .work = 2,
                                          .types = LIG_TYPES (LIG_FP32),
                                          .functions = {[LIG_BACKEND_CPU] = run_square_backward}};
static const LigOpInfo square_op = {LIG_OP_INFO_SIZES,
                                    .name = "check-square",
                                    .title = "Square",
                                    .category = "Other",
                                    .summary = "Squares its input",
                                    .formula = "y = x^2",
                                    .example = "check-square @ 3x4",
                                    .forward = "check-square",
                                    .backward = "check-square-backward-of-a-long-name",
                                    .saves = "x"};

static void
test_wrong (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigGradientCheck) worst = NULL;
  g_assert_true (lig_register_kernel (&square, &error));
  g_assert_true (lig_register_kernel (&square_backward, &error));
  g_assert_true (lig_register_op (&square_op, &error));
  g_assert_no_error (error);
  g_assert_true (check ("check-square", "4x4", LIG_POLICY_ALL, &worst, &error));
  g_assert_no_error (error);
  g_clear_pointer (&worst, lig_gradient_check_free);
  backward_error = 0.5;
  g_assert_false (check ("check-square", "4x4", LIG_POLICY_ALL, &worst, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (worst->name, ==, "input");
  g_assert_cmpint (worst->element, ==, 7);
  g_assert_cmpfloat_with_epsilon (worst->gradient - worst->difference, 0.5, 1e-4);
  g_assert_cmpfloat (worst->distance, >, 3e-3);
  g_assert_true (g_str_has_prefix (error->message, "gradient of input: relative error "));
  g_assert_nonnull (strstr (error->message, "expected at most 0.003; element 7 is "));
  backward_error = NAN;
  g_clear_error (&error);
  g_assert_false (check ("linear(4) ! check-square", "4x4", LIG_POLICY_ALL, NULL, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  backward_error = 0;
}

static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  LigGradientCheck *worst = (gpointer) &error;
  g_autoptr (LigDevice) described = lig_device_open ("null:h200", NULL);
  g_autoptr (LigSequence) sequence = new_sequence ("gelu", "4x4");
  g_assert_false (lig_check_gradients (sequence, described, NULL, 0, &worst, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
  g_assert_null (worst);
  g_clear_error (&error);
  g_assert_false (check ("identity", "4x4:int32", LIG_POLICY_ALL, &worst, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==,
                   "gradient check: neither an input nor a parameter has a gradient");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/check/right", test_right);
  g_test_add_func ("/check/wrong", test_wrong);
  g_test_add_func ("/check/rejected", test_rejected);
  return g_test_run ();
}
