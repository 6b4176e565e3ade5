/* SPDX-License-Identifier: MIT */
/* Tests that invalid sequences with attention have the same problems as their plans, each once, in
 * terms of the sequence, and that ops without their parameters are rejected. */
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/problem.h>

/* Checks that there is a problem exactly if there is no plan. */
static GPtrArray *
check (LigSequence *sequence)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.input_gradient = TRUE;
  g_autoptr (GError) error = NULL;
  GPtrArray *problems = lig_plan_check (sequence, cpu_device (), &options);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  for (guint i = 0; i < problems->len; i++)
    g_test_message ("%s", ((LigPlanProblem *) problems->pdata[i])->error->message);
  if (plan)
    g_assert_cmpuint (problems->len, ==, 0);
  else {
    g_assert_cmpuint (problems->len, >, 0);
    const GError *first = ((LigPlanProblem *) problems->pdata[0])->error;
    g_assert_cmpstr (first->message, ==, error->message);
  }
  return problems;
}

/* Checks that each edit can be made and leaves no problem. */
static void
apply_fixes (LigSequence *sequence, const LigPlanProblem *problem)
{
  for (guint i = 0; i < problem->fixes->len; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
    g_autofree char *text = lig_problem_fix_describe (problem->fixes->pdata[i]);
    g_test_message ("fix: %s", text);
    g_assert_true (lig_problem_fix_apply (problem->fixes->pdata[i], copy, &error));
    g_assert_no_error (error);
    g_autoptr (GPtrArray) after = check (copy);
    g_assert_cmpuint (after->len, ==, 0);
  }
}

/* In a file, each op without parameters has at most one problem: the parameter that it needs.
 */
static void
test_bare (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text =
      g_strdup_printf ("{\"ligature\":1,\"input\":{\"shape\":[2,6,24],\"dtype\":\"%s\"},"
                       "\"ops\":[{\"op\":\"%s\"}]}",
                       info->flags & LIG_OP_INTEGER_INPUT ? "int32" : "fp32", info->name);
    g_test_message ("%s", info->name);
    if (info->flags & LIG_OP_BLOCK)
      continue;
    g_autoptr (LigSequence) sequence = lig_sequence_from_json (text, -1, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (GPtrArray) problems = check (sequence);
    g_autoptr (LigOp) op = g_object_ref (lig_sequence_get (sequence, 0, NULL));
    g_assert_cmpuint (problems->len, ==, lig_op_check (op, NULL) ? 0 : 1);
    for (guint k = 0; k < problems->len; k++) {
      const LigPlanProblem *problem = problems->pdata[k];
      g_assert_cmpuint (problem->fixes->len, ==, 1);
      apply_fixes (sequence, problem);
    }
  }
}

static void
expect (const char *expression, const char *input, const char *message)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_test_message ("%s", expression);
  g_autoptr (GPtrArray) problems = check (sequence);
  g_assert_cmpuint (problems->len, ==, 1);
  const LigPlanProblem *problem = problems->pdata[0];
  g_assert_cmpstr (problem->error->message, ==, message);
  apply_fixes (sequence, problem);
}

/* Problems are described in terms of the sequence, and edits that only lead to other problems are
 * not offered. */
static void
test_words (void)
{
  expect ("transformer-layer(2, lengths=m)", "2x4x8",
          "nothing writes branch 'm', which transformer-layer at 0 reads");
  expect ("block(2) { transformer-layer(2, layer-type=decoder, memory='../m') }", "2x4x8",
          "nothing writes branch '../m', which transformer-layer at 0.0.0 reads");
  expect ("make-extra-output(to=m) ! basic-linear(8) ! attention(2, kv-heads=1, memory=m)",
          "2x4x10", "attention at 2: memory is 2x4x10, expected 2x4x8");
  expect ("transformer-layer(2)", "2x4x8:int32",
          "transformer-layer at 0: input is int32, expected fp32, fp16 or bf16");
}

static void
test_random (void)
{
  const char *const ops[] = {
    "embedding(8, vocabulary=8)",
    "position-embedding(4)",
    "position-embedding(3)",
    "transformer-layer(2)",
    "transformer-layer(3, rotary=true)",
    "transformer-layer(2, kv-heads=1, lengths=l, documents=d)",
    "transformer-layer(2, layer-type=decoder, memory=a)",
    "multi-head-attention(2, memory=b)",
    "layer-norm-mlp(8, activation=swiglu)",
    "layer-norm-linear(24)",
    "attention(2)",
    "attention(2, memory=a)",
    "attention(1, lengths=caller)",
    "rotary(1)",
    "qk-norm(2, kind=layer)",
    "linear(8, bias=false, tied=0)",
    "linear(24, tied='1')",
    "linear(24, tied='1.qkv')",
    "linear(8, trained=false)",
    "make-extra-output(to=a)",
    "make-extra-output(to=b)",
    "make-extra-output",
    "load-branch(a)",
    "load-branch(b)",
    "load-branch",
    "add-extra-input(from=a)",
    "drop-path(0.5)",
    "block(2) { transformer-layer(2, memory='../a', layer-type=decoder) }",
    "block(2) { linear(8, tied='0') ! make-extra-output(to=a) ! load-branch('../b') }",
    "block(2, trained=false) { layer-norm ! linear(8, tied='../1') }",
    "cross-entropy",
  };
  const char *const inputs[] = {"2x4x8", "2x4x24", "4x8", "2x4:int32", "2x3x0", "8"};
  g_autoptr (GRand) random = g_rand_new_with_seed (13);
  guint right = 0;
  for (int n = 0; n < 3000; n++) {
    g_autoptr (GString) text = g_string_new (NULL);
    for (int i = g_rand_int_range (random, 1, 6); i > 0; i--)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " ! " : "",
                              ops[g_rand_int_range (random, 0, G_N_ELEMENTS (ops))]);
    const char *input = inputs[g_rand_int_range (random, 0, G_N_ELEMENTS (inputs))];
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_from_expression (text->str, &error);
    LigShape shape;
    LigDtype dtype;
    if (!sequence)
      continue;
    g_test_message ("%s, %s", text->str, input);
    g_assert_true (lig_shape_parse (input, &shape, &dtype, &error));
    lig_sequence_set_input (sequence, &shape, dtype);
    g_autoptr (GPtrArray) problems = check (sequence);
    right += problems->len == 0;
  }
  g_test_message ("%u plans", right);
  g_assert_cmpuint (right, >, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/attention-problems/bare", test_bare);
  g_test_add_func ("/compile/attention-problems/words", test_words);
  g_test_add_func ("/compile/attention-problems/random", test_random);
  return g_test_run ();
}
