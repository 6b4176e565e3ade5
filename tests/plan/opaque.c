/* SPDX-License-Identifier: MIT */
/* Tests opaque ops: callbacks of the embedding program between two segments of a plan, which
 * prevent fusion across them. */
#include "tests/plan/case.h"
#include <ligature/register.h>

static float *
floats_of (const LigOperand *operand)
{
  float *values = g_new (float, operand->size);
  lig_widen (operand->dtype, operand->data, values, (size_t) operand->size);
  return values;
}

static void
write_floats (const LigOperand *operand, const float *values)
{
  lig_narrow (operand->dtype, values, operand->data, (size_t) operand->size);
}

static int forward_calls, backward_calls;

static gboolean
triple (const LigOpaqueCall *call, GError **error)
{
  g_autofree float *values = floats_of (&call->operands[0]);
  for (int64_t i = 0; i < call->operands[0].size; i++)
    values[i] *= 3;
  write_floats (&call->operands[1], values);
  forward_calls++;
  return TRUE;
}

static gboolean
triple_backward (const LigOpaqueCall *call, GError **error)
{
  g_autofree float *values = floats_of (&call->operands[0]);
  g_autofree float *x = floats_of (&call->operands[1]), *y = floats_of (&call->operands[2]);
  for (int64_t i = 0; i < call->operands[0].size; i++) {
    values[i] *= 3;
    g_assert_cmpfloat_with_epsilon ((double) y[i], 3 * (double) x[i], 0.02 * fabs ((double) y[i]));
  }
  write_floats (&call->operands[3], values);
  backward_calls++;
  return TRUE;
}

static gboolean
burn (const LigOpaqueCall *call, GError **error)
{
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_DEVICE, "it burns");
  return FALSE;
}

static const LigOpInfo opaque_triple = {LIG_OP_INFO_SIZES,
                                        .name = "opaque-triple",
                                        .example = "opaque-triple @ 4x8",
                                        .title = "Triple",
                                        .category = "Other",
                                        .summary = "Three times its input",
                                        .opaque_forward = triple,
                                        .opaque_backward = triple_backward};
static const LigOpInfo opaque_one_way = {
  LIG_OP_INFO_SIZES,       .name = "opaque-one-way", .example = "opaque-one-way @ 4x8",
  .title = "One way",      .category = "Other",      .summary = "Without a backward",
  .opaque_forward = triple};
static const LigOpInfo opaque_burn = {
  LIG_OP_INFO_SIZES,      .name = "opaque-burn",  .example = "opaque-burn @ 4x8",
  .title = "Burn",        .category = "Other",    .summary = "Fails",
  .opaque_forward = burn, .opaque_backward = burn};

static void
test_opaque (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (lig_register_op (&opaque_triple, &error));
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    options.compute = (int) floating_types[i];
    g_autoptr (LigSequence) opaque =
      new_sequence ("linear(8) ! opaque-triple ! gelu ! linear(8)", "5x11");
    g_autoptr (LigSequence) plain =
      new_sequence ("linear(8) ! constant-scale(3) ! gelu ! linear(8)", "5x11");
    g_autoptr (LigPlan) plan = compile (opaque, &options);
    check_groups (plan,
                  "[0 1 forward-linear-bias-activation] [2] [3] [4 5 "
                  "forward-linear-bias-activation]",
                  "[0 1 backward-linear-bias] [2] [3] [4 5 backward-linear-bias]");
    g_assert_cmpuint (lig_plan_get_segments (plan), ==, 3);
    g_assert_cmpstr (find_verdict (plan, "forward-linear-scale-add", 0)->observed, ==, "bias");
    forward_calls = backward_calls = 0;
    g_autoptr (Results) got = compute (opaque, &options);
    g_autoptr (Results) want = compute (plain, &options);
    compare_results (got, want, plan_tolerance (floating_types[i]), "opaque");
    g_assert_cmpint (forward_calls, ==, 1);
    g_assert_cmpint (backward_calls, ==, 1);
  }
}

/* The first op's input needs no gradient, so backward is not called. */
static void
test_opaque_first (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_assert_true (lig_register_op (&opaque_one_way, &error));
  options.input_gradient = FALSE;
  backward_calls = 0;
  g_autoptr (LigSequence) sequence = new_sequence ("opaque-one-way ! linear(8)", "5x11");
  g_autoptr (Results) results = compute (sequence, &options);
  g_assert_cmpint (backward_calls, ==, 0);
  options.input_gradient = TRUE;
  check_rejected (sequence, &options, LIG_ERROR_OP,
                  "opaque-one-way at 0: a gradient has to pass through it, but it has no backward");
}

static void
test_opaque_fails (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_assert_true (lig_register_op (&opaque_burn, &error));
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! opaque-burn", "5x11");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  g_assert_false (lig_program_run (program, LIG_RUN_FORWARD, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
  g_assert_cmpstr (error->message, ==, "opaque-burn at 1: it burns");
  g_assert_cmpuint (lig_state_get_micro_step (state), ==, 0);
}

typedef struct {
  float factor;
} ScaleParams;

static const LigParam scale_params[] = {
  LIG_FLOAT (ScaleParams, factor, "factor", "Factor", "Multiplies the input", -100, 100, 2),
  {.name = NULL},
};

static GString *calls;

static gboolean
scale (const LigOpaqueCall *call, GError **error)
{
  const ScaleParams *params = call->params;
  const LigOperand *from = &call->operands[0], *to = &call->operands[call->n_operands - 1];
  g_autofree float *values = floats_of (from);
  for (int64_t i = 0; i < from->size; i++)
    values[i] *= params->factor;
  write_floats (to, values);
  g_assert_true (call->data == &calls);
  g_string_append_printf (calls, "%s %s %g %s %d, ", call->op, call->path, (double) params->factor,
                          call->backward ? "backward" : "forward", call->n_operands);
  return TRUE;
}

static const LigOpInfo opaque_scale = {LIG_OP_INFO_SIZES,
                                       .name = "opaque-scale",
                                       .title = "Scale",
                                       .category = "Other",
                                       .summary = "A multiple of its input",
                                       .example = "opaque-scale(factor=3) @ 4x8",
                                       .params = scale_params,
                                       .params_size = sizeof (ScaleParams),
                                       .opaque_forward = scale,
                                       .opaque_backward = scale,
                                       .opaque_data = &calls};

/* One callback may serve many ops: it receives the op, its path and its parameters. */
static void
test_opaque_call (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  calls = g_string_new (NULL);
  lig_register_op (&opaque_scale, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (calls->str, ==, "");
  g_autoptr (LigSequence) opaque =
    new_sequence ("opaque-scale(factor=3) ! block(2) { gelu ! opaque-scale(factor=0.5) }", "5x11");
  g_autoptr (LigSequence) plain =
    new_sequence ("constant-scale(3) ! block(2) { gelu ! constant-scale(0.5) }", "5x11");
  g_autoptr (Results) got = compute (opaque, &options);
  g_autoptr (Results) want = compute (plain, &options);
  compare_results (got, want, plan_tolerance (LIG_FP32), "opaque");
  g_assert_cmpstr (calls->str, ==,
                   "opaque-scale 0 3 forward 2, opaque-scale 1.0.1 0.5 forward 2, "
                   "opaque-scale 1.1.1 0.5 forward 2, opaque-scale 1.1.1 0.5 backward 4, "
                   "opaque-scale 1.0.1 0.5 backward 4, opaque-scale 0 3 backward 4, ");
  g_string_free (calls, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opaque/opaque", test_opaque);
  g_test_add_func ("/opaque/opaque-first", test_opaque_first);
  g_test_add_func ("/opaque/opaque-fails", test_opaque_fails);
  g_test_add_func ("/opaque/opaque-call", test_opaque_call);
  return g_test_run ();
}
