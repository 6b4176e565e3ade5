/* SPDX-License-Identifier: MIT */
/* Optional extra inputs, fed by channels or by the caller, and extra outputs with their own type:
 * shapes, results, gradients against central differences, files and errors. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/lowering.h>
#include <ligature/register.h>

/* y = x scale + shift, with default scale 1 and shift 0; signs = x > 0 ? 1 : -1. */
static LigStatus
run_affine (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data, *scale = o[1].data, *shift = o[2].data;
  float *y = o[3].data;
  int32_t *signs = o[4].data;
  for (int64_t i = 0; i < o[0].size; i++) {
    if (signs)
      signs[i] = x[i] > 0 ? 1 : -1;
    y[i] = x[i] * (scale ? scale[i] : 1) + (shift ? shift[i] : 0);
  }
  return LIG_OK;
}

static LigStatus
run_affine_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *dy = o[0].data, *x = o[1].data, *scale = o[2].data;
  float *dx = o[3].data, *dscale = o[4].data, *dshift = o[5].data;
  for (int64_t i = 0; i < o[0].size; i++) {
    if (dscale)
      dscale[i] = dy[i] * x[i];
    if (dshift)
      dshift[i] = dy[i];
    if (dx)
      dx[i] = dy[i] * (scale ? scale[i] : 1);
  }
  return LIG_OK;
}

/* y = x signs. */
static LigStatus
run_flip (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const float *x = o[0].data;
  const int32_t *signs = o[1].data;
  for (int64_t i = 0; i < o[0].size; i++)
    ((float *) o[2].data)[i] = x[i] * (float) signs[i];
  return LIG_OK;
}

#define KERNEL(name_, text, function) \
  { \
    .size = sizeof (LigKernel), .name = name_, .signature = text, .work = 2, \
    .types = LIG_TYPES (LIG_FP32), .functions = { \
      [LIG_BACKEND_CPU] = function \
    } \
  }
static const LigKernel kernels[] = {
  KERNEL ("optional-affine", "x scale? shift? -> y signs", run_affine),
  KERNEL ("optional-affine-backward", "dy x scale? -> dx dscale dshift", run_affine_backward),
  KERNEL ("optional-flip", "x signs -> y", run_flip),
  KERNEL ("optional-flip-backward", "dy signs -> dx", run_flip),
};

static gboolean seen[LIG_MAX_EXTRA]; /* whether infer found each input present */

static gboolean
infer_affine (LigInfer *infer, GError **error)
{
  for (int i = 0; i < 2; i++) {
    seen[i] = infer->present[i];
    if (infer->present[i] && infer->extra_inputs[i].n_axes < 0)
      infer->extra_inputs[i] = infer->x;
  }
  infer->extra_output_dtypes[0] = LIG_INT32;
  return TRUE;
}

static gboolean
infer_flip (LigInfer *infer, GError **error)
{
  if (infer->extra_inputs[0].n_axes < 0)
    infer->extra_input_dtypes[0] = LIG_INT32;
  if (infer->extra_input_dtypes[0] == LIG_INT32)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, "signs is %s, expected int32",
               lig_dtype_name (infer->extra_input_dtypes[0]));
  return FALSE;
}

static const LigParam affine_params[] = {
  {LIG_PARAM_INPUT, "scale", "Scale", "Channel of the scale", 0, 0, 0, 0, 0, NULL},
  {LIG_PARAM_INPUT, "shift", "Shift", "Channel of the shift", 0, 0, 0, 0, 1, NULL},
  {LIG_PARAM_OUTPUT, "signs", "Signs", "Channel of the signs", 0, 0, 0, 0, 0, NULL},
  {.name = NULL},
};
static const LigParam flip_params[] = {
  {LIG_PARAM_INPUT, "from", "From", "Channel of the signs", 0, 0, 0, 0, 0, NULL},
  {.name = NULL},
};
static const LigOpInfo affine = {LIG_OP_INFO_SIZES,
                                 .name = "affine",
                                 .title = "Affine",
                                 .category = "Other",
                                 .summary = "Scales and shifts",
                                 .example = "affine @ 3x4",
                                 .params = affine_params,
                                 .extra_inputs = "scale? shift?",
                                 .extra_outputs = "signs",
                                 .saves = "x scale",
                                 .infer = infer_affine,
                                 .forward = "optional-affine",
                                 .backward = "optional-affine-backward"};
static const LigOpInfo flip = {LIG_OP_INFO_SIZES,
                               .name = "flip",
                               .title = "Flip",
                               .category = "Other",
                               .summary = "Changes signs",
                               .example = "flip @ 3x4",
                               .params = flip_params,
                               .extra_inputs = "signs",
                               .saves = "signs",
                               .infer = infer_flip,
                               .forward = "optional-flip",
                               .backward = "optional-flip-backward"};

static void
register_ops (void)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    lig_register_kernel (&kernels[i], &error);
    g_assert_no_error (error);
  }
  lig_register_op (&affine, &error);
  g_assert_no_error (error);
  lig_register_op (&flip, &error);
  g_assert_no_error (error);
  g_assert_true (lig_op_info_is_optional (lig_op_info_find ("affine"), 1));
  g_assert_false (lig_op_info_is_optional (lig_op_info_find ("affine"), 2));
  g_assert_false (lig_op_info_is_optional (lig_op_info_find ("add-extra-input"), 0));
}

/* Each form equals a sequence without optional inputs. */
static void
test_forms (void)
{
  static const struct {
    const char *expression;
    guint callers;
    gboolean scale, shift;
  } forms[] = {
    {"affine", 0, FALSE, FALSE},
    {"affine(scale=caller)", 1, TRUE, FALSE},
    {"affine(shift=caller)", 1, FALSE, TRUE},
    {"affine(scale=caller, shift=caller)", 2, TRUE, TRUE},
    {"make-extra-output(r) ! gelu ! affine(shift=r)", 0, FALSE, TRUE},
    {"make-extra-output(r) ! gelu ! affine(scale=r, shift=caller)", 1, TRUE, TRUE},
    {"make-extra-output(r) ! gelu ! affine(scale=r, shift=r) ! linear(3)", 0, TRUE, TRUE},
    {"block(2) { make-extra-output(r) ! silu ! affine(scale=r, shift=caller) }", 2, TRUE, TRUE},
    {"make-extra-output(r) ! block(2) { silu ! affine(scale=../r, shift=../caller) }", 2, TRUE,
     TRUE},
    /* A channel named `caller` is not the caller. */
    {"make-extra-output(caller) ! gelu ! affine(shift=caller)", 0, FALSE, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      g_autoptr (GError) error = NULL;
      LigPlanOptions options = plan_options (policy, TRUE);
      g_autoptr (LigSequence) sequence = new_sequence (forms[i].expression, "3x4");
      g_autoptr (LigPlan) plan = compile (sequence, &options);
      g_test_message ("%s", forms[i].expression);
      g_assert_cmpint (seen[0], ==, forms[i].scale);
      g_assert_cmpint (seen[1], ==, forms[i].shift);
      g_assert_cmpuint (lig_plan_get_n_extra_inputs (plan), ==, forms[i].callers);
      lig_check_gradients (sequence, cpu_device (), &options, 0, NULL, &error);
      g_assert_no_error (error);
      g_autofree char *again = lig_sequence_to_expression (sequence);
      g_assert_cmpstr (again, ==, forms[i].expression);
    }
}

static void
test_values (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (LigSequence) bare = new_sequence ("affine ! gelu", "3x4");
  g_autoptr (LigSequence) plain = new_sequence ("gelu", "3x4");
  g_autoptr (LigSequence) shifted = new_sequence ("affine(shift=caller)", "3x4");
  g_autoptr (LigSequence) added = new_sequence ("add-extra-input", "3x4");
  g_autoptr (Results) got = compute (bare, &options);
  g_autoptr (Results) want = compute (plain, &options);
  g_assert_cmpfloat (distance_between (results_find (got, "output"), results_find (want, "output")),
                     <=, 1e-6);
  g_assert_cmpfloat (
    distance_between (results_find (got, "grad.input"), results_find (want, "grad.input")), <=,
    1e-6);
  g_autoptr (Results) sum = compute (shifted, &options);
  g_autoptr (Results) branch = compute (added, &options);
  g_assert_cmpfloat (
    distance_between (results_find (sum, "output"), results_find (branch, "output")), <=, 1e-6);
  g_assert_cmpfloat (
    distance_between (results_find (sum, "grad.extra.0"), results_find (branch, "grad.extra.0")),
    <=, 1e-6);
}

/* An integer extra output has no gradient, and its readers see its type. */
static void
test_types (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  LigShape shape;
  LigDtype dtype;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(4) ! affine(signs=s) ! gelu ! flip(from=s)", "3x4");
  g_autoptr (Results) got = compute (sequence, &options);
  lig_check_gradients (sequence, cpu_device (), &options, 0, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) caller = new_sequence ("affine", "3x4");
  g_autoptr (LigPlan) plan = compile (caller, &options);
  g_assert_cmpuint (lig_plan_get_n_extra_outputs (plan), ==, 1);
  lig_plan_get_extra_output (plan, 0, &shape, &dtype);
  g_assert_cmpint (dtype, ==, LIG_INT32);
  g_autoptr (LigState) state = new_state (caller, &options);
  g_autoptr (LigProgram) program = new_program (state, caller, &options);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (Results) results = read_results (program, TRUE);
  LigTensor *signs = results_find (results, "extra.0");
  LigTensor *output = results_find (results, "output");
  for (gint64 i = 0; i < signs->size; i++)
    g_assert_cmpint (((const int32_t *) signs->data)[i], ==,
                     lig_tensor_get (output, i) > 0 ? 1 : -1);
}

static void
test_errors (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) missing = new_sequence ("affine(scale=r)", "3x4");
  check_rejected (missing, &options, LIG_ERROR_CHANNEL,
                  "nothing writes branch 'r', which affine at 0 reads");
  g_autoptr (LigSequence) floating =
    new_sequence ("make-extra-output(s) ! gelu ! flip(from=s)", "3x4");
  check_rejected (floating, &options, LIG_ERROR_DTYPE, "flip at 2: signs is fp32, expected int32");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  register_ops ();
  g_test_add_func ("/optional/forms", test_forms);
  g_test_add_func ("/optional/values", test_values);
  g_test_add_func ("/optional/types", test_types);
  g_test_add_func ("/optional/errors", test_errors);
  return g_test_run ();
}
