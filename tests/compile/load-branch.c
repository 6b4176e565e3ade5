/* SPDX-License-Identifier: MIT */
/* Lines that continue from a branch: parallel branches equal the sum of their functions, gradients
 * equal central differences under every policy, in blocks and macros, and from the caller; unread
 * lines are problems with fixes. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/lowering.h>
#include <ligature/problem.h>
#include <ligature/register.h>

static void
check_gradients (const char *expression, const char *input)
{
  for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
    g_autoptr (GError) error = NULL;
    LigPlanOptions options = plan_options (policy, TRUE);
    g_autoptr (LigSequence) sequence = new_sequence (expression, input);
    g_test_message ("%s", expression);
    lig_check_gradients (sequence, cpu_device (), &options, 0, NULL, &error);
    g_assert_no_error (error);
  }
}

static void
check_fused (const char *expression, const char *input)
{
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
    options.compute = (int) floating_types[i];
    g_autoptr (LigSequence) sequence = new_sequence (expression, input);
    g_autoptr (Results) alone = compute (sequence, &options);
    options.policy = LIG_POLICY_ALL;
    g_autoptr (Results) fused = compute (sequence, &options);
    compare_results (fused, alone, plan_tolerance (floating_types[i]), expression);
  }
}

/* Adds the results of several sequences with the same input and output gradient. Their parameters
 * have different paths. */
static void
check_sum (const char *expression, const char *const *branches)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (LigSequence) whole = new_sequence (expression, "4x8");
  g_autoptr (Results) got = compute (whole, &options);
  static const char *const summed[] = {"output", "grad.input"};
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) results_free);
  for (guint i = 0; branches[i]; i++) {
    g_autoptr (LigSequence) branch = new_sequence (branches[i], "4x8");
    g_ptr_array_add (parts, compute (branch, &options));
  }
  for (guint n = 0; n < G_N_ELEMENTS (summed); n++) {
    LigTensor *sum = results_find (parts->pdata[0], summed[n]);
    for (guint i = 1; i < parts->len; i++)
      for (gint64 k = 0; k < sum->size; k++)
        ((float *) sum->data)[k] += lig_tensor_get (results_find (parts->pdata[i], summed[n]), k);
    g_assert_cmpfloat (distance_between (results_find (got, summed[n]), sum), <=, 1e-6);
  }
  for (guint i = 0; i < parts->len; i++) {
    const Results *part = parts->pdata[i];
    for (guint k = 0; k < part->names->len; k++) {
      const char *name = part->names->pdata[k];
      if (g_str_has_prefix (name, "grad.") && !g_str_equal (name, "grad.input"))
        g_assert_cmpfloat (distance_between (results_find (got, name), part->tensors->pdata[k]), <=,
                           1e-6);
    }
  }
}

/* The paths of trained ops in a branch are those in the whole sequence. */
static void
test_parallel (void)
{
  check_sum ("make-extra-output(x) ! layer-norm ! gelu ! make-extra-output(a) ! load-branch(x) ! "
             "silu ! linear(8) ! add-extra-input(a)",
             (const char *const[]){"identity ! layer-norm ! gelu",
                                   "silu ! identity ! identity ! identity ! identity ! identity ! "
                                   "linear(8)",
                                   NULL});
  /* Three readers of one branch: its gradient is their sum. */
  check_sum (
    "make-extra-output(x) ! silu ! make-extra-output(a) ! load-branch(x) ! gelu ! "
    "make-extra-output(b) ! load-branch(x) ! qgelu ! add-extra-input(a) ! add-extra-input(b)",
    (const char *const[]){"silu", "gelu", "qgelu", NULL});
  /* The line continues from where it ended. */
  check_sum ("make-extra-output(x) ! load-branch(x) ! gelu", (const char *const[]){"gelu", NULL});
  check_sum ("gelu ! make-extra-output(x) ! load-branch(x)", (const char *const[]){"gelu", NULL});
}

static const char *const sequences[] = {
  "make-extra-output(x) ! layer-norm ! linear(8) ! make-extra-output(a) ! load-branch(x) ! "
  "linear(16) ! "
  "swiglu ! add-extra-input(a)",
  /* An encoder line, read twice by the decoder line of the caller's input. */
  "layer-norm ! linear(8) ! gelu ! make-extra-output(memory) ! load-branch ! layer-norm ! "
  "linear(8) ! "
  "add-extra-input(memory) ! gelu ! linear(8) ! add-extra-input(memory)",
  /* Ends and starts of lines where fusions would match. */
  "linear(8) ! make-extra-output(a) ! load-branch(a) ! gelu ! linear(8) ! add-extra-input(a) ! "
  "make-extra-output(b) ! load-branch(b) ! layer-norm",
  "make-extra-output(a) ! basic-linear(8) ! make-extra-output(b) ! load-branch(a) ! "
  "basic-linear(8) ! "
  "bias ! add-extra-input(b) ! rms-norm",
  "block(2) { make-extra-output(x) ! linear(8) ! gelu ! make-extra-output(a) ! load-branch(x) ! "
  "layer-norm ! add-extra-input(a) }",
  "make-extra-output(x) ! block(2) { linear(8) ! make-extra-output(a) ! load-branch(../x) ! gelu ! "
  "add-extra-input(a) }",
  /* Branches of a loaded line, and a branch that the caller receives. */
  "make-extra-output(x) ! silu ! make-extra-output(a, caller=true) ! load-branch(x) ! "
  "make-extra-output(y) ! gelu ! add-extra-input(y) ! add-extra-input(a) ! add-extra-input(x)",
  "gelu ! make-extra-output ! load-branch ! silu",
  "linear(8) ! make-extra-output(x) ! load-branch(shape=[4, 2, 4]) ! reshape([4, 8]) ! "
  "add-extra-input(x)",
};

static void
test_gradients (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++)
    check_gradients (sequences[i], "4x8");
}

static void
test_fused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++)
    check_fused (sequences[i], "4x8");
}

/* No group covers the load-branch and another op. */
static void
test_boundary (void)
{
  guint count;
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence = new_sequence (sequences[i], "4x8");
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
      guint n;
      const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n);
      for (guint k = 0; k < n; k++)
        for (int at = groups[k].first; at < groups[k].first + groups[k].count; at++)
          g_assert_true (groups[k].count == 1 || !(ops[at].info->flags & LIG_OP_LOADS_BRANCH));
    }
  }
  /* Loading a branch moves no bytes. */
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  g_autoptr (LigSequence) plain =
    new_sequence ("make-extra-output(x) ! load-branch(x) ! gelu", "4x8");
  g_autoptr (LigPlan) plan = compile (plain, &options);
  g_autofree char *forward = kernels_text (plan, LIG_PASS_FORWARD);
  g_autofree char *backward = kernels_text (plan, LIG_PASS_BACKWARD);
  g_assert_cmpstr (forward, ==, "gelu");
  g_assert_cmpstr (backward, ==, "gelu_backward");
}

/* --- Macros -------------------------------------------------------------------------------- */

/* y = gelu (x) + silu (x) with private channels, so that a sequence may contain it twice. */
static void
expand_parallel (LigOp *self, LigParts *parts)
{
  LigOp *start = lig_op_new ("make-extra-output", NULL), *end = lig_op_new ("load-branch", NULL);
  LigOp *branch = lig_op_new ("make-extra-output", NULL),
        *sum = lig_op_new ("add-extra-input", NULL);
  lig_op_set_extra_output_channel (start, 0, "x", FALSE, NULL);
  lig_op_set_extra_output_channel (branch, 0, "a", FALSE, NULL);
  lig_op_set_extra_input_channel (end, 0, "x", NULL);
  lig_op_set_extra_input_channel (sum, 0, "a", NULL);
  lig_parts_add (parts, NULL, start);
  lig_parts_add (parts, NULL, lig_op_new ("gelu", NULL));
  lig_parts_add (parts, NULL, branch);
  lig_parts_add (parts, NULL, end);
  lig_parts_add (parts, NULL, lig_op_new ("silu", NULL));
  lig_parts_add (parts, NULL, sum);
}

static void
test_macro (void)
{
  static const LigOpInfo info = {LIG_OP_INFO_SIZES,         .name = "parallel-gelu",
                                 .title = "Parallel",       .category = "Other",
                                 .summary = "Two branches", .example = "parallel-gelu @ 3x4",
                                 .expand = expand_parallel};
  g_autoptr (GError) error = NULL;
  lig_register_op (&info, &error);
  g_assert_no_error (error);
  check_sum ("parallel-gelu", (const char *const[]){"gelu", "silu", NULL});
  check_gradients ("linear(8) ! parallel-gelu ! layer-norm ! block(2) { parallel-gelu }", "4x8");
  check_fused ("linear(8) ! parallel-gelu ! layer-norm ! block(2) { parallel-gelu }", "4x8");
}

/* --- From the caller ----------------------------------------------------------------------- */

static void
check_extra (const char *expression, int compute_type, const char *want)
{
  LigShape shape;
  LigDtype dtype;
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  options.compute = compute_type;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpuint (lig_plan_get_n_extra_inputs (plan), ==, 1);
  lig_plan_get_extra_input (plan, 0, &shape, &dtype);
  g_autofree char *text = lig_shape_to_string (&shape);
  g_autofree char *got = g_strdup_printf ("%s:%s", text, lig_dtype_name (dtype));
  g_assert_cmpstr (got, ==, want);
  g_autoptr (Results) results = compute (sequence, &options);
  LigTensor *gradient = results_find (results, "grad.extra.0");
  g_assert_cmpint (gradient != NULL, ==, lig_dtype_is_floating (dtype));
  if (gradient)
    g_assert_cmpint (gradient->dtype, ==, dtype);
}

static void
test_caller (void)
{
  check_extra ("load-branch ! gelu", -1, "4x8:fp32");
  check_extra ("load-branch ! gelu", LIG_BF16, "4x8:fp32");
  check_extra ("load-branch(dtype=bf16) ! gelu", LIG_BF16, "4x8:bf16");
  check_extra ("load-branch(dtype=fp16, shape=[2, 6]) ! gelu", LIG_BF16, "2x6:fp16");
  check_extra ("load-branch(shape=[-1, 3]) ! gelu", -1, "4x3:fp32");
  /* Integers: the tokens of a decoder line. */
  check_extra ("linear(8) ! make-extra-output(memory) ! load-branch(shape=[4], dtype=int32) ! "
               "embedding(8, vocabulary=4) ! add-extra-input(memory)",
               -1, "4:int32");
  check_gradients ("linear(8) ! make-extra-output(memory) ! load-branch(shape=[4], dtype=int32) ! "
                   "embedding(8, vocabulary=4) ! add-extra-input(memory)",
                   "4x8");
  /* A value in another floating type is rounded like the sequence's input. */
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, TRUE);
  options.compute = LIG_BF16;
  g_autoptr (LigSequence) exact = new_sequence ("load-branch ! gelu ! linear(8)", "4x8");
  g_autoptr (LigSequence) narrow =
    new_sequence ("load-branch(dtype=bf16) ! gelu ! linear(8)", "4x8");
  g_autoptr (Results) first = compute (exact, &options);
  g_autoptr (Results) second = compute (narrow, &options);
  g_assert_cmpfloat (
    distance_between (results_find (first, "output"), results_find (second, "output")), ==, 0);
  g_assert_cmpfloat (
    distance_between (results_find (first, "grad.extra.0"), results_find (second, "grad.extra.0")),
    ==, 0);
}

/* --- Problems ------------------------------------------------------------------------------ */

/* Checks the first error, and that each of its fixes, written `remove 1, insert 3`, is offered. */
static void
check_problem (const char *expression, int code, const char *message, const char *fixes)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x8");
  check_rejected (sequence, &options, code, message);
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), &options);
  g_assert_cmpuint (problems->len, ==, 1);
  const LigPlanProblem *problem = problems->pdata[0];
  g_assert_cmpstr (problem->error->message, ==, message);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < problem->fixes->len; i++) {
    const LigProblemFix *fix = problem->fixes->pdata[i];
    g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
    g_assert_true (lig_problem_fix_apply (fix, copy, NULL));
    const char *kind = fix->kind == LIG_PROBLEM_FIX_REMOVE_OP   ? "remove"
                       : fix->kind == LIG_PROBLEM_FIX_INSERT_OP ? "insert"
                                                                : "other";
    g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", kind, fix->path);
  }
  g_assert_cmpstr (text->str, ==, fixes);
}

static void
test_problems (void)
{
  check_problem ("make-extra-output(x) ! gelu ! load-branch(x) ! silu", LIG_ERROR_OP,
                 "gelu at 1: nothing reads its output, because load-branch at 2 continues from "
                 "another value; remove it, or put make-extra-output after it",
                 "remove 1, insert 2");
  check_problem ("make-extra-output(x) ! block(2) { linear(8) ! load-branch(../x) ! silu }",
                 LIG_ERROR_OP,
                 "linear at 1.0.0: nothing reads its output, because load-branch at 1.0.1 "
                 "continues from another value; remove it, or put make-extra-output after it",
                 "remove 1.0.0, insert 1.0.1");
  check_problem (
    "gelu ! make-extra-output(nobody) ! load-branch ! silu", LIG_ERROR_OP,
    "make-extra-output at 1: nothing reads its output, because load-branch at 2 continues from "
    "another value; remove it, or put make-extra-output after it",
    "remove 1, insert 2");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) later =
    new_sequence ("load-branch(x) ! gelu ! make-extra-output(x) ! silu", "4x8");
  check_rejected (later, &options, LIG_ERROR_CHANNEL,
                  "branch 'x', which load-branch at 0 reads, is only written later");
  g_autoptr (LigSequence) axes = new_sequence ("load-branch(shape=[2, 2, -1])", "4x8");
  check_rejected (
    axes, &options, LIG_ERROR_SHAPE,
    "load-branch at 0: shape is -1 for axis 2, the last axis of the sequence's input is 1");
  g_autoptr (LigSequence) integers = new_sequence ("load-branch(dtype=int32) ! gelu", "4x8");
  check_rejected (integers, &options, LIG_ERROR_DTYPE,
                  "gelu at 1: input is int32, expected fp32, fp16 or bf16");
}

/* Problems after a load-branch are found, but none that only follows from another. */
static void
test_all_problems (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(x) ! linear(12, in-features=9) ! make-extra-output(a) ! "
    "load-branch(x) ! linear(4, in-features=13) ! make-extra-output(b) ! load-branch(a) ! "
    "linear(5, in-features=12)",
    "4x8");
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), &options);
  g_autoptr (GString) paths = g_string_new (NULL);
  for (guint i = 0; i < problems->len; i++) {
    const GError *error = ((LigPlanProblem *) problems->pdata[i])->error;
    g_test_message ("%s", error->message);
    g_string_append_printf (paths, "%s ", lig_error_get_path (error));
  }
  g_assert_cmpstr (paths->str, ==, "5 1 4 ");
}

static void
test_table (void)
{
  static const LigOpInfo wrong = {LIG_OP_INFO_SIZES,
                                  .name = "recall-nothing",
                                  .title = "Wrong",
                                  .category = "Other",
                                  .summary = "Wrong",
                                  .example = "recall-nothing @ 3x4",
                                  .flags = LIG_OP_LOADS_BRANCH,
                                  .forward = "gelu"};
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_register_op (&wrong, &error));
  g_assert_cmpstr (error->message, ==,
                   "op recall-nothing: it does not read x, so it must have an extra input and "
                   "not be transparent");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/load-branch/parallel", test_parallel);
  g_test_add_func ("/load-branch/gradients", test_gradients);
  g_test_add_func ("/load-branch/fused", test_fused);
  g_test_add_func ("/load-branch/boundary", test_boundary);
  g_test_add_func ("/load-branch/macro", test_macro);
  g_test_add_func ("/load-branch/caller", test_caller);
  g_test_add_func ("/load-branch/problems", test_problems);
  g_test_add_func ("/load-branch/all-problems", test_all_problems);
  g_test_add_func ("/load-branch/table", test_table);
  return g_test_run ();
}
