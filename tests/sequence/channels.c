/* SPDX-License-Identifier: MIT */
/* Channels: their rules and scopes, the message for each mistake, and the tensors that they
 * carry. */
#include "tests/plan/case.h"

static LigOp *
new_op (const char *name)
{
  g_autoptr (GError) error = NULL;
  LigOp *op = lig_op_new (name, &error);
  g_assert_no_error (error);
  return op;
}

static void
check_channel_error (const char *expression, const char *message)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x4");
  check_rejected (sequence, &options, LIG_ERROR_CHANNEL, message);
}

static void
test_channel_errors (void)
{
  check_channel_error ("gelu ! add-extra-input(c)",
                       "nothing writes branch 'c', which add-extra-input at 1 reads");
  check_channel_error ("add-extra-input(c) ! make-extra-output(c)",
                       "branch 'c', which add-extra-input at 0 reads, is only written later");
  check_channel_error ("make-extra-output(c) ! make-extra-output(c) ! add-extra-input(c)",
                       "branch 'c' is written twice (make-extra-output at 0 "
                       "and make-extra-output at 1)");
  check_channel_error ("make-extra-output(c) ! block(2) { add-extra-input(c) }",
                       "nothing writes branch 'c', which add-extra-input at 1.0.0 reads");
  check_channel_error ("block(2) { make-extra-output(c) } ! add-extra-input(c)",
                       "nothing writes branch 'c', which add-extra-input at 1 reads");
  check_channel_error ("block(2) { make-extra-output(../c) }",
                       "branch '../c' is written twice (make-extra-output at "
                       "0.0.0 and make-extra-output at 0.1.0)");
}

static void
test_channel_setters (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigOp) add = new_op ("add-extra-input");
  g_autoptr (LigOp) make = new_op ("make-extra-output");
  static const int outside[] = {-1, 1, 4};
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_assert_false (lig_op_set_extra_input_channel (add, outside[i], "c", &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
    g_clear_error (&error);
    g_assert_false (lig_op_set_extra_output_channel (make, outside[i], "c", FALSE, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
    g_autofree char *wanted = g_strdup_printf (
      "extra output index %d is out of range for make-extra-output with 1 extra outputs",
      outside[i]);
    g_assert_cmpstr (error->message, ==, wanted);
    g_clear_error (&error);
  }
  g_assert_false (lig_op_set_extra_input_channel (make, 0, "c", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  g_assert_false (lig_op_set_extra_input_channel (add, 0, "", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_assert_cmpstr (error->message, ==,
                   "extra input channel of add-extra-input must be a non-empty string or none");
  g_assert_true (lig_op_set_extra_input_channel (add, 0, "c", NULL));
  g_assert_cmpstr (lig_op_get_extra_input_channel (add, 0), ==, "c");
  /* Setting the channel to its current string is allowed. */
  g_assert_true (
    lig_op_set_extra_input_channel (add, 0, lig_op_get_extra_input_channel (add, 0), NULL));
  g_assert_cmpstr (lig_op_get_extra_input_channel (add, 0), ==, "c");
  g_assert_true (lig_op_set_extra_input_channel (add, 0, NULL, NULL));
  g_assert_null (lig_op_get_extra_input_channel (add, 0));
}

/* Checks that a result is the sum of (factor, tensor made by named_tensor) terms. */
static void
check_sum (const Results *results,
           const char *name,
           double a,
           const char *first,
           double b,
           const char *second)
{
  const LigTensor *got = results_find (results, name);
  g_assert_nonnull (got);
  g_autoptr (LigTensor) x =
    named_tensor (first, LIG_FP32, &got->shape, g_str_has_prefix (first, "gradient") ? 1 : 2);
  g_autoptr (LigTensor) z =
    named_tensor (second, LIG_FP32, &got->shape, g_str_has_prefix (second, "gradient") ? 1 : 2);
  for (gint64 i = 0; i < got->size; i++)
    g_assert_cmpfloat_with_epsilon (
      (double) lig_tensor_get (got, i),
      a * (double) lig_tensor_get (x, i) + b * (double) lig_tensor_get (z, i), 1e-5);
}

static Results *
run_case (const char *expression)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  options.policy = LIG_POLICY_NONE;
  Results *none = compute (sequence, &options);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) all = compute (sequence, &options);
  compare_results (all, none, 1e-6, expression);
  return none;
}

#define G1 "gradient"
#define E0 "gradient of extra 0"

static void
test_residual (void)
{
  /* y = 2x + b, dx = 2dy */
  g_autoptr (Results) inner = run_case ("make-extra-output(r) ! identity ! add-extra-input(r)");
  check_sum (inner, "output", 2, "input", 0, "input");
  check_sum (inner, "grad.input", 2, G1, 0, G1);
  g_assert_cmpuint (inner->names->len, ==, 2);
  /* The caller also gets the branch: dx = 2dy + dextra */
  g_autoptr (Results) both =
    run_case ("make-extra-output(r, caller=true) ! identity ! add-extra-input(r)");
  check_sum (both, "extra.0", 1, "input", 0, "input");
  check_sum (both, "grad.input", 2, G1, 1, E0);
}

static void
test_fan_out (void)
{
  /* y = 3x, dx = 3dy + droute */
  g_autoptr (Results) hidden =
    run_case ("make-extra-output(r) ! add-extra-input(r) ! add-extra-input(r)");
  check_sum (hidden, "output", 3, "input", 0, "input");
  check_sum (hidden, "grad.input", 3, G1, 0, G1);
  g_autoptr (Results) shown =
    run_case ("make-extra-output(r, caller=true) ! add-extra-input(r) ! add-extra-input(r)");
  check_sum (shown, "output", 3, "input", 0, "input");
  check_sum (shown, "grad.input", 3, G1, 1, E0);
  g_autoptr (Results) many =
    run_case ("make-extra-output(r) ! constant-scale(2) ! add-extra-input(r) ! add-extra-input(r) "
              "! add-extra-input(r) ! add-extra-input(r)");
  check_sum (many, "output", 6, "input", 0, "input");
  check_sum (many, "grad.input", 6, G1, 0, G1);
}

static void
test_unconsumed (void)
{
  g_autoptr (Results) public = run_case ("make-extra-output ! constant-scale(2)");
  check_sum (public, "extra.0", 1, "input", 0, "input");
  check_sum (public, "grad.input", 2, G1, 1, E0);
  g_autoptr (Results) hidden = run_case ("make-extra-output(nobody) ! constant-scale(2)");
  g_assert_null (results_find (hidden, "extra.0"));
  check_sum (hidden, "grad.input", 2, G1, 0, G1);
}

/* A gradient that the caller does not provide is zero. */
static void
test_missing_gradient (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("make-extra-output ! constant-scale(2)", "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  options.input_gradient = TRUE;
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) 16);
  g_autoptr (LigTensor) gradient = named_tensor ("gradient", LIG_FP32, &shape, 1);
  feed_inputs (program);
  g_assert_true (lig_program_set_gradient (program, gradient, &error));
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (Results) results = read_results (program, TRUE);
  check_sum (results, "grad.input", 2, G1, 0, G1);
}

static void
test_mixed (void)
{
  /* y = 2x + extra, the caller's inputs counted in op order */
  g_autoptr (Results) mixed =
    run_case ("make-extra-output(r) ! add-extra-input ! add-extra-input(r)");
  check_sum (mixed, "output", 2, "input", 1, "extra input 0");
  check_sum (mixed, "grad.input", 2, G1, 0, G1);
  check_sum (mixed, "grad.extra.0", 1, G1, 0, G1);
  g_autoptr (Results) two =
    run_case ("constant-scale(0) ! add-extra-input ! constant-scale(2) ! add-extra-input");
  check_sum (two, "output", 2, "extra input 0", 1, "extra input 1");
  check_sum (two, "grad.extra.0", 2, G1, 0, G1);
  check_sum (two, "grad.extra.1", 1, G1, 0, G1);
  /* Two outputs, one hidden, one public. */
  g_autoptr (Results) outputs = run_case ("make-extra-output(a) ! constant-scale(2) ! "
                                          "make-extra-output ! add-extra-input(a)");
  check_sum (outputs, "output", 3, "input", 0, "input");
  check_sum (outputs, "extra.0", 2, "input", 0, "input");
  check_sum (outputs, "grad.input", 3, G1, 2, E0);
}

/* An op that reads a different channel makes a different sequence. */
static void
test_rebinding (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(a) ! constant-scale(3) ! make-extra-output(b) ! constant-scale(0) ! "
    "add-extra-input(a)",
    "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (Results) first = compute (sequence, &options);
  check_sum (first, "output", 1, "input", 0, "input");
  check_sum (first, "grad.input", 1, G1, 0, G1);
  g_assert_true (
    lig_op_set_extra_input_channel (lig_sequence_get (sequence, -1, NULL), 0, "b", NULL));
  g_autoptr (Results) second = compute (sequence, &options);
  check_sum (second, "output", 3, "input", 0, "input");
  check_sum (second, "grad.input", 3, G1, 0, G1);
  g_assert_true (
    lig_op_set_extra_input_channel (lig_sequence_get (sequence, -1, NULL), 0, NULL, NULL));
  g_autoptr (Results) third = compute (sequence, &options);
  check_sum (third, "output", 1, "extra input 0", 0, "input");
}

static void
bind_targets (LigSequence *sequence, const char *channel)
{
  g_assert_true (
    lig_op_set_extra_input_channel (lig_sequence_get (sequence, -1, NULL), 0, channel, NULL));
}

/* Targets may come from an earlier op; floating targets have a gradient. */
static void
test_targets (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) distance =
    new_sequence ("make-extra-output(t) ! constant-scale(3) ! mean-squared-error", "16");
  bind_targets (distance, "t");
  g_autoptr (Results) results = compute (distance, &options);
  const LigTensor *gradient = results_find (results, "grad.input");
  g_autoptr (LigTensor) x = named_tensor ("input", LIG_FP32, &gradient->shape, 2);
  /* mean ((3x - x)^2) = 4 mean (x^2), and its slope is 8 x / 16 */
  for (gint64 i = 0; i < x->size; i++)
    g_assert_cmpfloat_with_epsilon ((double) lig_tensor_get (gradient, i),
                                    (double) lig_tensor_get (x, i) / 2, 1e-6);
  g_autoptr (LigSequence) classes =
    new_sequence ("make-extra-output(t) ! embedding(8) ! linear(256) ! cross-entropy", "4x3:int32");
  bind_targets (classes, "t");
  g_autoptr (Results) trained = compute (classes, &options);
  g_assert_cmpuint (trained->names->len, ==, 1 + 3);
  for (guint i = 0; i < trained->tensors->len; i++)
    g_assert_true (isfinite (lig_tensor_get (trained->tensors->pdata[i], 0)));
  /* Targets of the wrong type are rejected. */
  g_autoptr (LigSequence) wrong =
    new_sequence ("make-extra-output(t) ! linear(8) ! cross-entropy", "4");
  bind_targets (wrong, "t");
  check_rejected (wrong, &options, LIG_ERROR_SHAPE,
                  "cross-entropy at 2: targets is 4, expected scalar");
}

/* Each repetition of a block has its own channels, unless their names begin with ../ */
static void
test_scopes (void)
{
  g_autoptr (Results) own =
    run_case ("block(3) { make-extra-output(r) ! identity ! add-extra-input(r) }");
  check_sum (own, "output", 8, "input", 0, "input");
  check_sum (own, "grad.input", 8, G1, 0, G1);
  g_autoptr (Results) outer =
    run_case ("make-extra-output(r) ! block(3) { add-extra-input(../r) }");
  check_sum (outer, "output", 4, "input", 0, "input");
  check_sum (outer, "grad.input", 4, G1, 0, G1);
  g_autoptr (Results) deep = run_case (
    "make-extra-output(r) ! block(2) { make-extra-output(r) ! block(2) { add-extra-input(../r) ! "
    "add-extra-input(../../r) } }");
  /* x -> 2(x + x + x0)... : x1 = 3x0 + 2x0 = 5, x2 = 3 * 5 + 2 = 17 */
  check_sum (deep, "output", 17, "input", 0, "input");
  check_sum (deep, "grad.input", 17, G1, 0, G1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/channels/channel-errors", test_channel_errors);
  g_test_add_func ("/channels/channel-setters", test_channel_setters);
  g_test_add_func ("/channels/residual", test_residual);
  g_test_add_func ("/channels/fan-out", test_fan_out);
  g_test_add_func ("/channels/unconsumed", test_unconsumed);
  g_test_add_func ("/channels/missing-gradient", test_missing_gradient);
  g_test_add_func ("/channels/mixed", test_mixed);
  g_test_add_func ("/channels/rebinding", test_rebinding);
  g_test_add_func ("/channels/targets", test_targets);
  g_test_add_func ("/channels/scopes", test_scopes);
  return g_test_run ();
}
