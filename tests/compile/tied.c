/* SPDX-License-Identifier: MIT */
/* Tests tied parameters: one value and one gradient to which all ops contribute, regardless of
 * order, fusions, types and number of micro-batches. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/optimizer.h>
#include <ligature/problem.h>

static const LigPolicy policies[] = {LIG_POLICY_NONE, LIG_POLICY_ALL};

/* Expressions in which a later op uses the weight of op 0, and the same with a separate weight
 * there; `path` is the path of that op's parameters. */
static const struct {
  const char *name, *tied, *own, *root, *path, *input;
} cases[] = {
  {"head", "embedding(6, vocabulary=8) ! gelu ! linear(8, bias=false, tied=0) ! cross-entropy",
   "embedding(6, vocabulary=8) ! gelu ! linear(8, bias=false) ! cross-entropy", "0.weight",
   "2.weight", "4x3:int32"},
  {"head-with-bias", "embedding(6, vocabulary=8) ! gelu ! linear(8, tied=0) ! cross-entropy",
   "embedding(6, vocabulary=8) ! gelu ! linear(8) ! cross-entropy", "0.weight", "2.weight",
   "4x3:int32"},
  {"biases", "linear(7) ! gelu ! linear(7, tied=0) ! gelu ! linear(7, tied=\"0\")",
   "linear(7) ! gelu ! linear(7, tied=0) ! gelu ! linear(7)", "0.weight", "4.weight", "5x7"},
  {"later", "linear(7, tied=2) ! silu ! linear(7) ! layer-norm ! linear(5)",
   "linear(7) ! silu ! linear(7) ! layer-norm ! linear(5)", "2.weight", "0.weight", "5x7"},
  {"basic", "basic-linear(7) ! relu ! basic-linear(7, tied=0) ! bias ! relu ! linear(7, tied=2)",
   "basic-linear(7) ! relu ! basic-linear(7, tied=0) ! bias ! relu ! linear(7)", "0.weight",
   "5.weight", "5x7"},
  {"relative", "block(1) { linear(7) ! silu ! linear(7, tied=../0) } ! linear(3)",
   "block(1) { linear(7) ! silu ! linear(7) } ! linear(3)", "0.0.0.weight", "0.0.2.weight", "5x7"},
};

/* Sets parameters that depend only on their paths; `copied` gets the values of `root`. */
static void
fill (LigState *state, const char *root, const char *copied)
{
  g_autoptr (GError) error = NULL;
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    LigShape shape;
    g_assert_true (lig_state_get_shape (state, *path, &shape, NULL));
    const char *name = g_str_equal (*path, copied) ? root : *path;
    g_autoptr (LigTensor) tensor = named_tensor (name, LIG_FP32, &shape, 1);
    lig_state_set (state, LIG_STATE_PARAMETERS, *path, tensor, &error);
    g_assert_no_error (error);
  }
}

static void
run_all (LigProgram *program, int micro_batches)
{
  for (int i = 0; i < micro_batches; i++) {
    feed_inputs (program);
    feed_gradients (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  }
}

/* The gradient is the sum of the ops' gradients with separate weights. */
static void
check_sum (guint n, const LigPlanOptions *options, int micro_batches, double limit)
{
  g_autoptr (LigSequence) tied = new_sequence (cases[n].tied, cases[n].input);
  g_autoptr (LigSequence) own = new_sequence (cases[n].own, cases[n].input);
  g_autoptr (LigState) one = lig_state_new (tied, cpu_device (), options, 7, NULL);
  g_autoptr (LigState) two = lig_state_new (own, cpu_device (), options, 7, NULL);
  fill (one, cases[n].root, cases[n].path);
  fill (two, cases[n].root, cases[n].path);
  g_assert_false (lig_state_is_trained (one, cases[n].path));
  g_autoptr (LigProgram) a = new_program (one, tied, options);
  g_autoptr (LigProgram) b = new_program (two, own, options);
  run_all (a, micro_batches);
  run_all (b, micro_batches);
  for (const char *const *path = lig_state_get_paths (one); *path; path++) {
    g_autoptr (LigTensor) got = read_value (one, LIG_STATE_GRADIENTS, *path);
    g_autoptr (LigTensor) plain = read_value (two, LIG_STATE_GRADIENTS, *path);
    g_autoptr (LigTensor) sum = lig_tensor_new (LIG_FP32, &plain->shape, NULL);
    g_autoptr (LigTensor) more = g_str_equal (*path, cases[n].root)
                                   ? read_value (two, LIG_STATE_GRADIENTS, cases[n].path)
                                   : NULL;
    for (gint64 i = 0; i < sum->size; i++)
      lig_tensor_set (sum, i, lig_tensor_get (plain, i) + (more ? lig_tensor_get (more, i) : 0));
    double distance = distance_between (got, sum);
    if (!(distance <= limit))
      g_error ("%s: d%s is off by %g, allowed %g", cases[n].name, *path, distance, limit);
  }
}

static void
test_sums (void)
{
  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
      LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
      options.policy = policies[i];
      check_sum (n, &options, 1, 1e-6);
      check_sum (n, &options, 3, 1e-6);
      options.compute = LIG_BF16;
      options.parameters = LIG_FP32;
      check_sum (n, &options, 2, 2e-2);
      options.parameters = LIG_BF16;
      check_sum (n, &options, 1, 2e-2);
      options.accumulate = TRUE;
      check_sum (n, &options, 3, 2e-2);
    }
}

static void
test_differences (void)
{
  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LigGradientCheck) worst = NULL;
      g_autoptr (LigSequence) sequence = new_sequence (cases[n].tied, cases[n].input);
      LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
      options.policy = policies[i];
      lig_check_gradients (sequence, cpu_device (), &options, 0, &worst, &error);
      g_assert_no_error (error);
    }
}

/* Without rows, all gradients are zero, even after others were accumulated. */
static void
test_empty (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = policies[i];
    g_autoptr (LigSequence) sequence =
      new_sequence ("linear(7) ! gelu ! linear(7, tied=0) ! gelu ! linear(7, tied=0)", "0x7");
    g_autoptr (Results) results = compute (sequence, &options);
    LigTensor *gradient = results_find (results, "grad.0.weight");
    for (gint64 k = 0; k < gradient->size; k++)
      g_assert_cmpfloat (lig_tensor_get (gradient, k), ==, 0);
  }
}

/* The parameter is counted and stored once, and is initialized like that of its owner. */
static void
test_once (void)
{
  g_autoptr (LigSequence) tied = new_sequence (cases[1].tied, cases[1].input);
  g_autoptr (LigSequence) own = new_sequence (cases[1].own, cases[1].input);
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  g_autoptr (LigState) one = lig_state_new (tied, cpu_device (), &options, 7, NULL);
  g_autoptr (LigState) two = lig_state_new (own, cpu_device (), &options, 7, NULL);
  g_assert_cmpint (lig_state_get_n_elements (one), ==, 48 + 8);
  g_assert_cmpint (lig_state_get_n_elements (two), ==, 48 + 48 + 8);
  g_assert_cmpuint (g_strv_length ((GStrv) lig_state_get_paths (one)), ==, 2);
  g_autoptr (LigTensor) a = lig_state_get (one, LIG_STATE_PARAMETERS, "0.weight", NULL);
  g_autoptr (LigTensor) b = lig_state_get (two, LIG_STATE_PARAMETERS, "0.weight", NULL);
  g_assert_cmpfloat (distance_between (a, b), ==, 0);
  g_autoptr (LigPlan) plan = compile (tied, &options);
  guint count;
  gint64 elements = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    elements += ops[i].parameters;
  g_assert_cmpint (elements, ==, 48 + 8);
}

/* One copy in the compute type serves all ops. */
static void
test_copies (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = LIG_BF16;
  options.parameters = LIG_FP32;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence =
    new_sequence ("basic-linear(7) ! gelu ! basic-linear(7, tied=0) ! gelu ! "
                  "basic-linear(7, tied=2)",
                  "5x7:bf16");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autofree char *forward = kernels_text (plan, LIG_PASS_FORWARD);
  g_assert_cmpstr (forward, ==, "convert linear gelu linear gelu linear");
}

static void
expect (const char *expression, const char *input, int code, const char *message)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  check_rejected (sequence, &options, code, message);
}

static void
test_rejected (void)
{
  expect ("linear(7) ! linear(5, tied=0)", "4x7", LIG_ERROR_SHAPE,
          "linear at 1: its weight is 5x7, but 0.weight, to which it is tied, is 7x7");
  expect ("linear(7) ! linear(7, tied=4)", "4x7", LIG_ERROR_OP,
          "linear at 1: tied to '4', but no op has the parameter 4.weight; did you mean "
          "'0.weight'?");
  expect ("gelu ! linear(7, tied=0)", "4x7", LIG_ERROR_OP,
          "linear at 1: tied to '0', but no op has the parameter 0.weight");
  expect ("linear(7, tied=0)", "4x7", LIG_ERROR_OP,
          "linear at 0: tied to '0', which does not lead to an op with its own parameter");
  expect ("linear(7, tied=1) ! linear(7, tied=0)", "4x7", LIG_ERROR_OP,
          "linear at 0: tied to '1', which does not lead to an op with its own parameter");
  expect ("linear(7) ! linear(7, tied=../../0)", "4x7", LIG_ERROR_OP,
          "linear at 1: tied to '../../0', which does not lead to an op with its own parameter");
}

/* Each problem comes with the edit that removes it. */
static void
test_fix (void)
{
  const LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(7) ! linear(5, tied=0)", "4x7");
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), NULL);
  g_assert_cmpuint (problems->len, ==, 1);
  const LigPlanProblem *problem = problems->pdata[0];
  g_assert_cmpuint (problem->fixes->len, ==, 1);
  const LigProblemFix *fix = problem->fixes->pdata[0];
  g_autofree char *text = lig_problem_fix_describe (fix);
  g_assert_cmpstr (text, ==, "omit tied at 1");
  g_assert_true (lig_problem_fix_apply (fix, sequence, &error));
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (expression, ==, "linear(7) ! linear(5)");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tied/sums", test_sums);
  g_test_add_func ("/tied/differences", test_differences);
  g_test_add_func ("/tied/empty", test_empty);
  g_test_add_func ("/tied/once", test_once);
  g_test_add_func ("/tied/copies", test_copies);
  g_test_add_func ("/tied/rejected", test_rejected);
  g_test_add_func ("/tied/fix", test_fix);
  return g_test_run ();
}
