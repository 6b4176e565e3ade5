/* SPDX-License-Identifier: MIT */
/* Tests that every problem of a sequence is reported, but none that only follows from another. */
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/problem.h>

#include <time.h>

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
  /* The first problem is the error of compiling. */
  if (plan)
    g_assert_cmpuint (problems->len, ==, 0);
  else {
    g_assert_cmpuint (problems->len, >, 0);
    const GError *first = ((LigPlanProblem *) problems->pdata[0])->error;
    g_assert_cmpstr (first->message, ==, error->message);
    g_assert_cmpint (first->code, ==, error->code);
    g_assert_cmpstr (lig_error_get_path (first), ==, lig_error_get_path (error));
  }
  return problems;
}

/* Checks the codes and paths, `shape 1, channel 3.0.2`, in the order of the passes. */
static void
expect (LigSequence *sequence, const char *list)
{
  g_autoptr (GPtrArray) problems = check (sequence);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < problems->len; i++) {
    const GError *error = ((LigPlanProblem *) problems->pdata[i])->error;
    const char *path = lig_error_get_path (error);
    g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", lig_error_code_name (error),
                            path ? path : "-");
  }
  g_assert_cmpstr (text->str, ==, list);
}

static void
expect_of (const char *expression, const char *input, const char *list)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_test_message ("%s", expression);
  expect (sequence, list);
}

static void
test_all (void)
{
  expect_of ("gelu", "4x8", "");
  /* Two matmuls that do not fit: the second one's input is the output that the first declares. */
  expect_of ("linear(12, in-features=9) ! gelu ! linear(4, in-features=13)", "4x8",
             "shape 0, shape 2");
  expect_of ("linear(12, in-features=9) ! gelu ! linear(4, in-features=12)", "4x8", "shape 0");
  /* A channel, a shape and a fusion are found in different passes. */
  expect_of ("add-extra-input(from=a) ! linear(12, in-features=9) ! layer-norm([5]) ! "
             "add-extra-input(from=b)",
             "4x8", "channel 0, channel 3, shape 1, shape 2");
  /* Two producers of one name, and a wrong type. */
  expect_of ("make-extra-output(to=a) ! make-extra-output(to=a) ! add-extra-input(from=a) ! "
             "embedding(8)",
             "4x8", "channel 0, dtype 3");
  expect_of ("linear(6) ! mean-squared-error ! linear(4) ! linear(3, in-features=9) ! "
             "add-extra-input(from=r)",
             "4x8", "channel 4, shape 2, shape 3");
}

/* Checks the only problem's sentence. */
static void
expect_sentence (const char *expression, const char *input, const char *sentence)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (GPtrArray) problems = check (sequence);
  g_assert_cmpuint (problems->len, ==, 1);
  g_assert_cmpstr (((LigPlanProblem *) problems->pdata[0])->error->message, ==, sentence);
}

/* Channels of a router that is rejected have unknown shapes and ranges, so nothing after them is a
 * problem of its own; the parts of a macro are called by its parameters. */
static void
test_experts (void)
{
  static const char rest[] = "permute(8, experts=e, offsets=o, places=p) ! "
                             "grouped-linear(8, offsets=o) ! unpermute(places=p)";
  g_autofree char *many = g_strdup_printf ("router(9, experts=e) ! %s", rest);
  g_autofree char *after = g_strdup_printf ("linear(8, in-features=9) ! %s", many);
  g_autofree char *before = g_strdup_printf ("%s ! linear(4, in-features=9)", many);
  expect_of (many, "2x5x8", "value 0");
  expect_of (after, "2x5x8", "shape 0, value 1");
  expect_of (before, "2x5x8", "value 0");
  expect_sentence ("mixture-of-experts(6, groups=4)", "5x8",
                   "mixture-of-experts at 0: groups is 4, expected a divisor of experts, 6");
  expect_sentence ("mixture-of-experts(4, interleave=3)", "5x8",
                   "mixture-of-experts at 0: interleave is 3, expected a divisor of 32");
  expect_of ("mixture-of-experts(6, groups=4) ! linear(4, in-features=9)", "5x8",
             "value 0, shape 1");
  expect_sentence ("transformer-layer(2, experts=2, top-k=3)", "2x5x8",
                   "transformer-layer at 0: top-k is 3, expected at most experts, 2");
  expect_sentence ("transformer-layer(2, experts=4, balance=0.5)", "2x5x8",
                   "transformer-layer at 0: router-score is softmax, with a correction expected "
                   "sigmoid or sqrt-softplus; set one of them, or omit balance");
  expect_sentence ("transformer-layer(2, rotary=true, rotary-scaling=yarn, rotary-low=4)", "2x5x8",
                   "transformer-layer at 0: rotary-low is 4, expected less than rotary-high, 4");
}

#define SORTED \
  "the rows of its input are sorted by expert, expected the order of the batch; put unpermute " \
  "before it"

/* After permute, rows have no positions. */
static void
test_sorted (void)
{
  const char *const fine[] = {"linear(8)", "layer-norm", "dropout(0.5)", "swiglu"};
  const char *const sorted[] = {
    "position-embedding(64)",
    "drop-path(0.1)",
    "mean-squared-error",
    "transformer-layer(2)",
    "multi-head-attention(2)",
    "reshape([5, 4, 8]) ! attention(1, kv-heads=1)",
    "linear(24) ! rotary(2)",
    "linear(24) ! attention(2)",
    "linear(24) ! ring-attention(2)",
    "linear(24) ! split-heads(2)",
    "permute(4, places=q) ! unpermute(places=q) ! position-embedding(64)"};
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++) {
    g_autofree char *text = g_strdup_printf ("permute(4) ! %s", fine[i]);
    expect_of (text, "2x5x8", "");
  }
  for (guint i = 0; i < G_N_ELEMENTS (sorted); i++) {
    g_autofree char *within =
      g_strdup_printf ("router(2, experts=e) ! permute(8, experts=e, places=p) ! %s", sorted[i]);
    g_autoptr (LigSequence) sequence = new_sequence (within, "2x5x8");
    g_autoptr (GPtrArray) problems = check (sequence);
    g_assert_cmpuint (problems->len, ==, 1);
    g_assert_nonnull (strstr (((LigPlanProblem *) problems->pdata[0])->error->message, SORTED));
  }
  expect_of ("router(2, experts=e) ! permute(8, experts=e, places=p) ! unpermute(places=p) ! "
             "position-embedding(64)",
             "2x5x8", "");
  /* As many rows, in another order. */
  expect_sentence ("router(1, experts=e) ! make-extra-output(to=a) ! permute(8, experts=e) ! "
                   "add-extra-input(from=a)",
                   "5x8",
                   "add-extra-input at 3: the rows of either its input or extra input are sorted "
                   "by expert; connect both before permute, or both after it");
  expect_of ("router(1, experts=e) ! permute(8, experts=e, places=p) ! make-extra-output(to=a) ! "
             "gelu ! add-extra-input(from=a) ! unpermute(places=p)",
             "5x8", "");
}

static LigSequence *
read_file (const char *text)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_json (text, -1, NULL, &error);
  g_assert_no_error (error);
  return sequence;
}

static void
test_wishes (void)
{
  /* Forced fusions are rejected regardless of shapes; a fence is also found next to a wrong
   * shape. */
  g_autoptr (LigSequence) sequence =
    read_file ("{\"ligature\":1,\"input\":{\"shape\":[4,8],\"dtype\":\"fp32\"},\"ops\":["
               "{\"op\":\"linear\",\"out-features\":8},{\"op\":\"gelu\"},"
               "{\"op\":\"gelu\"},{\"op\":\"linear\",\"out-features\":8,\"in-features\":9}],"
               "\"fences\":[\"1\"],"
               "\"force\":[{\"fusion\":\"forward-linear-bias-activation\",\"at\":\"0\"},"
               "{\"fusion\":\"forward-add-norm\",\"at\":\"2\"}]}");
  expect (sequence, "shape 3, fusion 2");
  g_autoptr (LigOp) matmul = g_object_ref (lig_sequence_get (sequence, 3, NULL));
  g_object_set (matmul, "in-features", G_GINT64_CONSTANT (0), NULL);
  expect (sequence, "fusion 2");
}

static void
test_blocks (void)
{
  /* All repetitions share the problem; the second repetition has one of its own. */
  expect_of ("block(12) { linear(8, in-features=9) ! gelu ! layer-norm([7]) } ! layer-norm([3])",
             "4x8", "shape 0.0.0, shape 0.0.2, shape 1");
  expect_of ("block(12) { linear(12, in-features=8) ! gelu }", "4x8", "shape 0.1.0");
  expect_of ("block(3) { make-extra-output(to=a) ! block(2) { add-extra-input(from='../b') } } ! "
             "linear(4, in-features=5)",
             "4x8", "channel 0.0.1.0.0, shape 1");
  /* An empty block, in a file. */
  g_autoptr (LigSequence) empty =
    read_file ("{\"ligature\":1,\"input\":{\"shape\":[4,8],\"dtype\":\"fp32\"},\"ops\":["
               "{\"op\":\"block\",\"repeat\":2,\"ops\":[]},{\"op\":\"layer-norm\",\"normalized-"
               "shape\":[9]}]}");
  expect (empty, "op 0, shape 1");
}

/* An error that may only follow from an earlier one is omitted. */
static void
test_cascades (void)
{
  /* It is unknown which of both summands is wrong, so the next matmul may fit. */
  expect_of ("make-extra-output(to=r) ! linear(12) ! add-extra-input(from=r) ! "
             "linear(4, in-features=8) ! linear(3, in-features=5)",
             "4x8", "shape 2, shape 4");
  /* Halving an odd number of features gives an unknown number. */
  expect_of ("linear(9) ! swiglu ! gelu ! layer-norm([5]) ! linear(7) ! layer-norm([5])", "4x8",
             "shape 1, shape 5");
  /* A reshape has the axes that it declares. */
  expect_of ("reshape([5, 3]) ! linear(4, in-features=3) ! linear(4, in-features=3)", "4x8",
             "shape 0, shape 2");
  expect_of ("reshape([-1, 3]) ! add-extra-input ! layer-norm([3]) ! linear(3, in-features=4)",
             "4x8", "shape 0, shape 3");
  /* A channel without a producer comes from the caller. */
  expect_of ("add-extra-input(from=a) ! layer-norm([8])", "4x8", "channel 0");
  /* A branch of unknown shape. */
  expect_of ("linear(9) ! swiglu ! make-extra-output(to=r) ! linear(6) ! add-extra-input(from=r)",
             "4x8", "shape 1");
}

static void
test_missing (void)
{
  /* A required parameter is missing, and the features after it are unknown. */
  g_autoptr (LigSequence) sequence = read_file (
    "{\"ligature\":1,\"input\":{\"shape\":[4,8],\"dtype\":\"fp32\"},\"ops\":["
    "{\"op\":\"linear\",\"out-features\":8},{\"op\":\"layer-norm\",\"normalized-shape\":[8]},"
    "{\"op\":\"linear\",\"out-features\":6},{\"op\":\"layer-norm\",\"normalized-shape\":[7]}]}");
  g_autoptr (LigOp) bare = lig_op_new ("linear", NULL);
  lig_sequence_replace (sequence, 0, bare, NULL);
  expect (sequence, "op 0, shape 3");
  /* Without an input, all shapes are unknown except those that matmuls declare. */
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) open = lig_sequence_from_expression (
    "layer-norm([5]) ! linear(4, in-features=9) ! linear(3, in-features=5)", &error);
  g_assert_no_error (error);
  expect (open, "shape -, shape 2");
}

/* Checks that each offered edit can be made and removes its problem. */
static void
apply_fixes (LigSequence *sequence, GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++) {
    const LigPlanProblem *problem = problems->pdata[i];
    for (guint k = 0; k < problem->fixes->len; k++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
      g_assert_true (lig_problem_fix_apply (problem->fixes->pdata[k], copy, &error));
      g_assert_no_error (error);
      g_autoptr (GPtrArray) after = check (copy);
      for (guint n = 0; n < after->len; n++) {
        const GError *other = ((LigPlanProblem *) after->pdata[n])->error;
        g_assert_false (
          g_str_equal (other->message, problem->error->message) &&
          g_strcmp0 (lig_error_get_path (other), lig_error_get_path (problem->error)) == 0);
      }
    }
  }
}

/* Random sequences, mostly invalid: there is a problem exactly if there is no plan. */
static void
test_random (void)
{
  const char *const ops[] = {"linear(8)",
                             "linear(6)",
                             "linear(6, in-features=8)",
                             "linear(8, in-features=6)",
                             "gelu",
                             "swiglu",
                             "layer-norm",
                             "layer-norm([8])",
                             "bias(6)",
                             "reshape([-1, 4])",
                             "reshape([4, 8])",
                             "make-extra-output(to=a)",
                             "make-extra-output(to=b)",
                             "make-extra-output",
                             "add-extra-input(from=a)",
                             "add-extra-input(from=b)",
                             "add-extra-input",
                             "embedding(8)",
                             "dropout",
                             "mean-squared-error",
                             "block(2) { linear(6, in-features=6) ! gelu }",
                             "block(2) { make-extra-output(to=a) ! add-extra-input(from='../b') }"};
  const char *const inputs[] = {"4x8", "4x6", "2x4x8:bf16", "8:int32", "4x0"};
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  guint wrong = 0;
  for (guint i = 0; i < 300; i++) {
    g_autoptr (GString) text = g_string_new (NULL);
    for (gint32 k = g_rand_int_range (random, 1, 10); k > 0; k--)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " ! " : "",
                              ops[g_rand_int_range (random, 0, G_N_ELEMENTS (ops))]);
    const char *input = inputs[g_rand_int_range (random, 0, G_N_ELEMENTS (inputs))];
    g_test_message ("%s @ %s", text->str, input);
    g_autoptr (LigSequence) sequence = new_sequence (text->str, input);
    g_autoptr (GPtrArray) problems = check (sequence);
    wrong += problems->len > 0;
    apply_fixes (sequence, problems);
  }
  g_assert_cmpuint (wrong, >, 100);
}

/* Returns the CPU time of the check in seconds. */
static double
check_many (GString *text, guint count)
{
  g_autoptr (LigSequence) sequence = new_sequence (text->str, "4x8");
  clock_t before = clock ();
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), &options);
  g_assert_cmpuint (problems->len, ==, count);
  return (double) (clock () - before) / CLOCKS_PER_SEC;
}

static void
test_many (void)
{
  g_autoptr (GString) matmuls = g_string_new ("linear(8, in-features=9)");
  g_autoptr (GString) readers = g_string_new ("add-extra-input(from=c)");
  for (int i = 1; i < 1000; i++) {
    g_string_append (matmuls, " ! linear(8, in-features=9)");
    g_string_append_printf (readers, " ! add-extra-input(from=c%d)", i);
  }
  double seconds = check_many (matmuls, 1000) + check_many (readers, 1000);
  g_test_message ("%.3f s", seconds);
  g_assert_cmpfloat (seconds, <, 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/problems/all", test_all);
  g_test_add_func ("/compile/problems/experts", test_experts);
  g_test_add_func ("/compile/problems/sorted", test_sorted);
  g_test_add_func ("/compile/problems/wishes", test_wishes);
  g_test_add_func ("/compile/problems/blocks", test_blocks);
  g_test_add_func ("/compile/problems/cascades", test_cascades);
  g_test_add_func ("/compile/problems/missing", test_missing);
  g_test_add_func ("/compile/problems/random", test_random);
  g_test_add_func ("/compile/problems/many", test_many);
  return g_test_run ();
}
