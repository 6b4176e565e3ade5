/* SPDX-License-Identifier: MIT */
/* Tests the errors of faulty custom tables and of kernels that a device lacks, and the values that
 * a custom fusion must write. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/lowering.h>
#include <ligature/params-matmul.h>
#include <ligature/register.h>

static void
expect_rejected (const char *expression,
                 const char *device,
                 LigDtype compute_type,
                 const char *words)
{
  for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_MEASURED; policy++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) opened = lig_device_open (device, &error);
    g_assert_no_error (error);
    g_autoptr (LigSequence) sequence = new_sequence (expression, "6x8");
    LigPlanOptions options = plan_options (policy, TRUE);
    options.compute = (int) compute_type;
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, opened, &options, &error);
    g_assert_null (plan);
    g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
    g_assert_cmpstr (error->message, ==, words);
  }
}

/* Expects an error from registering the op, which is detected by compiling its example. */
static void
expect_unregistered (const LigOpInfo *info, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_register_op (info, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  if (!g_str_has_suffix (error->message, words))
    g_error ("'%s' does not end with '%s'", error->message, words);
}

static LigStatus
run_copy (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  memmove (o[1].data, o[0].data, (size_t) o[0].size * lig_dtype_size (o[0].dtype));
  return LIG_OK;
}

#define KERNEL(id, served) \
  static const LigKernel id = {.size = sizeof (LigKernel), \
                               .name = #id, \
                               .signature = "x -> y", \
                               .work = 1, \
                               .types = served, \
                               .functions = {[LIG_BACKEND_CPU] = run_copy}}
KERNEL (copy_any, LIG_FLOATING_TYPES);
KERNEL (copy_fp32, LIG_TYPES (LIG_FP32));
KERNEL (copy_none, 0);
static const LigKernel copy_in_place = {.size = sizeof (LigKernel),
                                        .name = "copy_in_place",
                                        .signature = "x -> y=x",
                                        .work = 1,
                                        .types = LIG_FLOATING_TYPES,
                                        .functions = {[LIG_BACKEND_CPU] = run_copy}};

static void
backward_alias (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
}

#define OP(op, function, ...) \
  static const LigOpInfo op = {LIG_OP_INFO_SIZES, \
                               .title = "Test", \
                               .category = "Other", \
                               .summary = "Tests", \
                               .formula = "y = x", \
                               .lower_forward = function, \
                               .lower_backward = backward_alias, \
                               __VA_ARGS__}

static gboolean
infer_half (LigInfer *infer, GError **error)
{
  if (infer->y.axes[0] == 6)
    infer->y.axes[0] /= 2;
  return TRUE;
}

static gboolean
infer_sixteen_bit (LigInfer *infer, GError **error)
{
  if (infer->y.axes[0] == 6)
    infer->y_dtype = LIG_BF16;
  return TRUE;
}

static gboolean
infer_flat (LigInfer *infer, GError **error)
{
  lig_shape_init (&infer->y, 1, lig_shape_size (&infer->x));
  return TRUE;
}

static void
alias (LigLowering *lowering)
{
  lig_lower_alias (lowering, "y", "x");
}

static void
alias_input (LigLowering *lowering)
{
  lig_lower_alias (lowering, "x", "y");
}

OP (half, alias, .name = "alias-half", .example = "alias-half @ 4x8", .infer = infer_half);
OP (narrow,
    alias,
    .name = "alias-narrow",
    .example = "alias-narrow @ 4x8",
    .infer = infer_sixteen_bit);
OP (flat, alias, .name = "alias-flat", .example = "alias-flat @ 4x8", .infer = infer_flat);
OP (reverse, alias_input, .name = "alias-reverse", .example = "alias-reverse @ 4x8");

static void
test_alias (void)
{
  expect_rejected ("gelu ! alias-half", "cpu", LIG_FP32,
                   "alias-half at 1: its table makes 'y', 3x8 fp32, another name of 'x', 6x8 fp32, "
                   "which has a different size");
  expect_rejected (
    "alias-narrow", "cpu", LIG_FP32,
    "alias-narrow at 0: its table makes 'y', 6x8 bf16, another name of 'x', 6x8 fp32, "
    "which has a different size");
  expect_unregistered (&reverse, "alias-reverse at 0: its table makes 'x' another name of 'y', but "
                                 "does not compute it");
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! alias-flat", "6x8");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (Results) results = compute (sequence, &options);
  g_assert_cmpint (results_find (results, "output")->shape.n_axes, ==, 1);
}

static void
lower_many_params (LigLowering *lowering)
{
  const char params[97] = {0};
  lig_lower_custom (lowering, &copy_any, NULL, params, sizeof params);
}

static void
lower_built_in_params (LigLowering *lowering)
{
  const char params[97] = {0};
  lig_lower_kernel (lowering, "gelu", NULL, params, sizeof params);
}

OP (many_params, lower_many_params, .name = "many-params", .example = "many-params @ 4x8");
OP (built_in_params,
    lower_built_in_params,
    .name = "built-in-params",
    .example = "built-in-params @ 4x8");

static void
test_params (void)
{
  expect_unregistered (&many_params, "many-params at 0: its kernel copy_any is given 97 bytes "
                                     "of parameters, at most 96 are allowed");
  expect_unregistered (&built_in_params,
                       "built-in-params at 0: its kernel gelu is given 97 bytes of parameters, "
                       "at most 96 are allowed");
}

static void
lower_any (LigLowering *lowering)
{
  lig_lower_custom (lowering, &copy_any, NULL, NULL, 0);
}

static void
lower_fp32 (LigLowering *lowering)
{
  lig_lower_custom (lowering, &copy_fp32, NULL, NULL, 0);
}

static void
lower_none (LigLowering *lowering)
{
  lig_lower_custom (lowering, &copy_none, NULL, NULL, 0);
}

static void
lower_in_place (LigLowering *lowering)
{
  lig_lower_custom (lowering, &copy_in_place, NULL, NULL, 0);
}

OP (in_place, lower_in_place, .name = "copy-in-place", .example = "copy-in-place @ 4x8");
OP (any_type, lower_any, .name = "copy-any", .example = "copy-any @ 4x8");
OP (fp32_only, lower_fp32, .name = "copy-fp32", .example = "copy-fp32 @ 4x8");
OP (no_type, lower_none, .name = "copy-none", .example = "copy-none @ 4x8");

static void
test_kernels (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("copy-any ! copy-fp32", "6x8");
  g_autoptr (Results) results = compute (sequence, &options);
  g_assert_nonnull (results_find (results, "output"));
  expect_rejected ("gelu ! copy-any", "null:h200", LIG_FP32,
                   "copy-any at 1: its kernel copy_any cannot run on null:h200");
  expect_rejected ("gelu ! copy-fp32", "cpu", LIG_BF16,
                   "copy-fp32 at 1: its kernel copy_fp32 supports fp32, not bf16");
  expect_unregistered (
    &no_type,
    "copy-none at 0: its kernel copy_none: it supports none of fp32, fp16 and bf16; set its "
    "types");
}

/* A kernel of the embedding program works in place if its signature allows it. */
static void
test_in_place (void)
{
  static const struct {
    const char *expression;
    int buffers;
  } chains[] = {{"gelu ! copy-any ! copy-any", 3}, {"gelu ! copy-in-place ! copy-in-place", 2}};
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, FALSE);
    g_autoptr (LigSequence) sequence = new_sequence (chains[i].expression, "16x64");
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    g_assert_cmpint (lig_plan_get_arena_bytes (plan, NULL), ==, chains[i].buffers * 16 * 64 * 4);
    g_autoptr (Results) results = compute (sequence, &options);
    g_autoptr (LigSequence) plain = new_sequence ("gelu", "16x64");
    g_autoptr (Results) want = compute (plain, &options);
    compare_results (results, want, 0, chains[i].expression);
  }
}

/* x -> y: y = x + relu (x); dy x -> dx, once or twice x. */
static LigStatus
run_residual (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigScaleParams *params = launch->params;
  for (int64_t i = 0; i < o[0].size; i++) {
    float x = ((float *) o[0].data)[i];
    ((float *) o[1].data)[i] = params->factor * x + (x > 0 ? x : 0);
  }
  return LIG_OK;
}

static LigStatus
run_residual_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  const LigScaleParams *params = launch->params;
  for (int64_t i = 0; i < o[0].size; i++) {
    float slope = params->factor + (((float *) o[1].data)[i] > 0 ? 1 : 0);
    ((float *) o[2].data)[i] = slope * ((float *) o[0].data)[i];
  }
  return LIG_OK;
}

static const LigKernel residual = {.size = sizeof (LigKernel),
                                   .name = "residual",
                                   .signature = "x -> y",
                                   .work = 2,
                                   .types = LIG_TYPES (LIG_FP32),
                                   .functions = {[LIG_BACKEND_CPU] = run_residual}};
static const LigKernel residual_backward = {
  .size = sizeof (LigKernel),
  .name = "residual_backward",
  .signature = "dy x -> dx",
  .work = 2,
  .types = LIG_TYPES (LIG_FP32),
  .functions = {[LIG_BACKEND_CPU] = run_residual_backward}};

static void
lower_residual (LigLowering *lowering)
{
  LigScaleParams params = {lig_lower_has (lowering, "3.x") ? 2 : 1};
  lig_lower_custom (lowering, &residual, params.factor > 1 ? "x=0.x y=3.y" : "x=0.x y=2.y", &params,
                    sizeof params);
}

static void
lower_residual_backward (LigLowering *lowering)
{
  LigScaleParams params = {lig_lower_has (lowering, "3.x") ? 2 : 1};
  lig_lower_custom (lowering, &residual_backward,
                    params.factor > 1 ? "dy=3.dy x=0.x dx=0.dx" : "dy=2.dy x=0.x dx=0.dx", &params,
                    sizeof params);
}

#define PATTERN "make-extra-output relu add-extra-input [add-extra-input]"
static const LigFusion joint_residual = {.size = sizeof (LigFusion),
                                         .name = "joint-residual",
                                         .pass = LIG_PASS_JOINT,
                                         .summary = "y = x + relu (x)",
                                         .pattern = PATTERN,
                                         .lower = lower_residual,
                                         .lower_backward = lower_residual_backward,
                                         .saves = "0.x"};

/* All readers of the channel are in the group, so the group does not have to write it. */
static void
check_inner (const char *expression, const char *groups)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "6x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan, groups, groups);
  g_autoptr (Results) fused = compute (sequence, &options);
  options.policy = LIG_POLICY_NONE;
  g_autoptr (Results) unfused = compute (sequence, &options);
  compare_results (fused, unfused, 1e-6, expression);
}

static void
check_shared (const char *expression, const char *observed, const char *required)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "6x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (plan, "joint-residual", 0);
  g_assert_nonnull (verdict);
  g_assert_false (verdict->taken);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_IN_USE);
  g_assert_cmpstr (verdict->observed, ==, observed);
  g_assert_cmpstr (verdict->required, ==, required);
  g_autoptr (Results) results = compute (sequence, &options);
  g_assert_nonnull (results_find (results, "grad.input"));
}

static void
test_channel (void)
{
  check_inner ("make-extra-output(to=r) ! relu ! add-extra-input(from=r)",
               "[0 1 2 joint-residual]");
  check_inner ("make-extra-output(to=r) ! relu ! add-extra-input(from=r) ! add-extra-input(from=r)",
               "[0 1 2 3 joint-residual]");
  check_inner ("make-extra-output(to=r) ! relu ! add-extra-input(from=r) ! gelu",
               "[0 1 2 joint-residual] [3]");
  check_shared (
    "make-extra-output(to=r) ! relu ! add-extra-input(from=r) ! gelu ! add-extra-input(from=r)",
    "caller", "a kernel that writes extra of make-extra-output at 0");
  check_shared ("make-extra-output(to=r, caller=true) ! relu ! add-extra-input(from=r)", "caller",
                "a kernel that writes extra of make-extra-output at 0");
}

/* A backward fusion: in the forward pass, its ops stay unfused and write the branch. */
static const LigFusion backward_residual = {.size = sizeof (LigFusion),
                                            .name = "backward-residual",
                                            .pass = LIG_PASS_BACKWARD,
                                            .summary = "dx = dy + relu' (x) dy",
                                            .pattern = PATTERN,
                                            .lower = lower_residual_backward};

static void
test_channel_backward (void)
{
  static const char *const forbidden[] = {"joint-residual", NULL};
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence =
    new_sequence ("make-extra-output(to=r) ! relu ! add-extra-input(from=r)", "6x8");
  lig_sequence_set_forbidden (sequence, forbidden);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan, "[0] [1] [2]", "[0 1 2 backward-residual]");
  g_autoptr (LigSequence) shared = new_sequence (
    "make-extra-output(to=r) ! relu ! add-extra-input(from=r) ! gelu ! add-extra-input(from=r)",
    "6x8");
  lig_sequence_set_forbidden (shared, forbidden);
  g_autoptr (LigPlan) other = compile (shared, &options);
  const LigVerdict *verdict = find_verdict (other, "backward-residual", 0);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_IN_USE);
  g_assert_cmpstr (verdict->observed, ==, "channel r");
  g_assert_cmpstr (verdict->required, ==, "no other reader");
  /* The caller's gradient is added, but not that of the channel, which is internal. */
  g_autoptr (LigSequence) given =
    new_sequence ("make-extra-output(to=r, caller=true) ! relu ! add-extra-input(from=r)", "6x8");
  lig_sequence_set_forbidden (given, forbidden);
  g_autoptr (LigPlan) with_caller = compile (given, &options);
  verdict = find_verdict (with_caller, "backward-residual", 0);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_IN_USE);
  g_assert_cmpstr (verdict->observed, ==, "caller");
}

int
main (int argc, char **argv)
{
  static const LigOpInfo *const ops[] = {&half, &narrow, &flat, &any_type, &fp32_only, &in_place};
  static const LigFusion *const fusions[] = {&joint_residual, &backward_residual};
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (!lig_register_op (ops[i], &error))
      g_error ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (fusions); i++)
    if (!lig_register_fusion (fusions[i], TRUE, &error))
      g_error ("%s", error->message);
  g_test_add_func ("/lowering/alias", test_alias);
  g_test_add_func ("/lowering/params", test_params);
  g_test_add_func ("/lowering/kernels", test_kernels);
  g_test_add_func ("/lowering/in-place", test_in_place);
  g_test_add_func ("/lowering/channel", test_channel);
  g_test_add_func ("/lowering/channel-backward", test_channel_backward);
  return g_test_run ();
}
