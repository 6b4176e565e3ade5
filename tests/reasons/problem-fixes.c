/* SPDX-License-Identifier: MIT */
/* Tests that each fix of a problem works: the edit removes the problem. */
#include "tests/plan/case.h"

#include <ligature/problem.h>

static const LigPlanOptions options = {
  .size = sizeof (LigPlanOptions),
  .policy = LIG_POLICY_ALL,
  .compute = -1,
  .parameters = -1,
  .training = TRUE,
  .input_gradient = TRUE,
};

static guint applied[LIG_PROBLEM_FIX_INSERT_OP + 1];

/* Returns a sentence without its numbers, which an edit may change. */
static char *
without_numbers (const char *sentence)
{
  char *text = g_strdup (sentence), *to = text;
  for (const char *at = text; *at; at++)
    if (!g_ascii_isdigit (*at))
      *to++ = *at;
  *to = '\0';
  return text;
}

/* Returns how many of the problems have the sentence of the error, with any numbers. */
static guint
count (GPtrArray *problems, const GError *error)
{
  guint found = 0;
  g_autofree char *sentence = without_numbers (error->message);
  for (guint i = 0; i < problems->len; i++) {
    const GError *other = ((LigPlanProblem *) problems->pdata[i])->error;
    g_autofree char *text = without_numbers (other->message);
    found += g_str_equal (text, sentence);
  }
  return found;
}

/* Applies each fix of each problem to a copy. Returns the phrases of all. */
static char *
apply_all (LigSequence *sequence)
{
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), &options);
  GString *text = g_string_new (NULL);
  g_assert_cmpuint (problems->len, >, 0);
  for (guint i = 0; i < problems->len; i++) {
    const LigPlanProblem *problem = problems->pdata[i];
    g_test_message ("%s", problem->error->message);
    for (guint k = 0; k < problem->fixes->len; k++) {
      const LigProblemFix *fix = problem->fixes->pdata[k];
      g_autoptr (GError) error = NULL;
      g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
      g_autofree char *phrase = lig_problem_fix_describe (fix);
      g_test_message ("  %s", phrase);
      g_assert_true (lig_problem_fix_apply (fix, copy, &error));
      g_assert_no_error (error);
      g_autoptr (GPtrArray) after = lig_plan_check (copy, cpu_device (), &options);
      g_assert_cmpuint (count (after, problem->error), <, count (problems, problem->error));
      g_assert_cmpuint (after->len, <=, problems->len);
      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", phrase);
      applied[fix->kind]++;
    }
  }
  return g_string_free (text, FALSE);
}

static void
expect (const char *expression, const char *input, const char *phrases)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_test_message ("%s", expression);
  g_autofree char *text = apply_all (sequence);
  g_assert_cmpstr (text, ==, phrases);
}

static void
test_shapes (void)
{
  expect ("linear(12) ! gelu ! linear(4, in-features=9)", "4x8",
          "set in-features to 12 at 2; set out-features to 9 at 0");
  expect ("make-extra-output(to=r) ! linear(32) ! gelu ! linear(9) ! add-extra-input(from=r)",
          "4x8",
          "set out-features to 8 at 3; set the input to 4x9:fp32; insert linear(8) before 4");
  expect ("linear(9) ! swiglu", "4x8", "set out-features to 10 at 0");
  /* The features of a head are not those of the packed heads, which a part of the macro has. */
  expect ("transformer-layer(4, rotary=true, head-features=7)", "2x5x32", "");
  expect ("linear(6) ! layer-norm([5])", "4x8",
          "omit normalized-shape at 1; set out-features to 5 at 0");
  expect ("reshape([4, 9]) ! gelu", "4x8", "set shape to [4, -1] at 0");
  expect ("embedding(8)", "4x8", "set the input to 4x8:int32");
  expect ("linear(4)", "4x8:int32", "set the input to 4x8:fp32");
  expect ("linear(4) ! mean-squared-error ! layer-norm", "4x8", "remove mean-squared-error at 1");
  expect ("layer-norm([5])", "4x8", "omit normalized-shape at 0; set the input to 4x5:fp32");
}

/* The numbers of experts of one mixture agree; an edit that only moves the disagreement is not
 * offered.
 */
static void
test_experts (void)
{
  expect ("router(9)", "5x8", "set top-k to 8 at 0");
  expect ("router(2, groups=3)", "5x8", "set groups to 2 at 0");
  expect ("router(2, groups=2, group-top-k=4)", "5x8", "set group-top-k to 2 at 0");
  expect ("router(3, groups=2, group-top-k=2)", "5x8", "set group-top-k to 1 at 0");
  expect ("router(3, groups=4)", "5x8", "set top-k to 2 at 0");
  expect ("router(2, experts=e) ! permute(6, experts=e)", "5x8", "set groups to 8 at 1");
  expect ("router(2, experts=e) ! permute(8, experts=e, offsets=o) ! "
          "grouped-linear(5, groups=6, offsets=o)",
          "5x8", "set groups to 8 at 2; disconnect 2 from 'o'");
  expect ("grouped-linear(4, groups=2, in-features=3)", "5x8",
          "set in-features to 8 at 0; set the input to 5x3:fp32");
  expect ("swiglu(interleave=3)", "5x8", "set interleave to 2 at 0");
  expect ("scaled-situ-glu(interleave=8)", "5x24", "set interleave to 6 at 0");
  expect ("router(2, experts=e, weights=w) ! permute(8, experts=e, weights=w, scales=s) ! "
          "reshape([-1, 4]) ! scaled-srelu(scales=s)",
          "5x8", "disconnect 3 from 's'");
  /* Parts of a macro are edited by its parameters. */
  expect ("mixture-of-experts(4, interleave=3)", "5x8", "set interleave to 2 at 0");
  expect ("mixture-of-experts(4, interleave=3, expert-features=8, weights-at=output)", "5x8",
          "set interleave to 2 at 0");
}

/* An edit may reveal a problem that was left out before. */
static void
test_revealed (void)
{
  expect ("make-extra-output(to=r) ! linear(9) ! add-extra-input(from=r) ! "
          "linear(4, in-features=3)",
          "4x8",
          "set out-features to 8 at 1; set the input to 4x9:fp32; insert linear(8) before 2");
}

static void
test_channels (void)
{
  expect ("make-extra-output ! linear(8) ! add-extra-input(from=r)", "4x8",
          "connect 2 with 0; disconnect 2 from 'r'");
  /* The shapes of two outputs are the same, so it is unknown which one was meant. */
  expect ("make-extra-output ! make-extra-output(to=b) ! linear(8) ! add-extra-input(from=r)",
          "4x8", "disconnect 3 from 'r'");
  expect ("make-extra-output(to=r) ! linear(4) ! add-extra-input(from=q)", "4x8",
          "disconnect 2 from 'q'");
  expect ("make-extra-output(to=a) ! gelu ! add-extra-input(from=a) ! make-extra-output(to=a) ! "
          "gelu ! add-extra-input(from=a)",
          "4x8", "rename 'a' from 3 on to 'a-2'; disconnect 3 from 'a'");
  expect ("make-extra-output(to=a) ! block(2) { gelu ! add-extra-input(from=r) }", "4x8",
          "connect 1.0.1 with 0; disconnect 1.0.1 from 'r'");
}

/* Readers keep their producers: those after the second one get its new name, also in blocks. */
static void
test_rename (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(to=a) ! gelu ! add-extra-input(from=a) ! make-extra-output(to=a) ! "
    "block(2) { add-extra-input(from='../a') } ! add-extra-input(from=a)",
    "4x8");
  g_autoptr (LigProblemFix) fix = lig_problem_fix_new (LIG_PROBLEM_FIX_RENAME, "3", "a", "b");
  g_assert_true (lig_problem_fix_apply (fix, sequence, NULL));
  LigOp *inner = lig_sequence_find (sequence, "4.0.0", NULL);
  g_assert_cmpstr (lig_op_get_extra_input_channel (lig_sequence_get (sequence, 2, NULL), 0), ==,
                   "a");
  g_assert_cmpstr (lig_op_get_extra_input_channel (inner, 0), ==, "../b");
  g_assert_cmpstr (lig_op_get_extra_input_channel (lig_sequence_get (sequence, 5, NULL), 0), ==,
                   "b");
}

static LigSequence *
read_file (const char *rest)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text =
    g_strdup_printf ("{\"ligature\":1,\"input\":{\"shape\":[4,8],\"dtype\":\"fp32\"},%s}", rest);
  LigSequence *sequence = lig_sequence_from_json (text, -1, NULL, &error);
  g_assert_no_error (error);
  return sequence;
}

static void
test_wishes (void)
{
  g_autoptr (LigSequence) fenced =
    read_file ("\"ops\":[{\"op\":\"bias\"},{\"op\":\"gelu\"}],\"fences\":[\"1\"],"
               "\"force\":[{\"fusion\":\"forward-bias-activation\",\"at\":\"0\"}]");
  g_autofree char *fence = apply_all (fenced);
  g_assert_cmpstr (fence, ==,
                   "remove the fence before 1; do not force forward-bias-activation at 0");
  g_autoptr (LigSequence) forbidden =
    read_file ("\"ops\":[{\"op\":\"bias\"},{\"op\":\"gelu\"}],"
               "\"forbid\":[{\"fusion\":\"forward-bias-activation\"}],"
               "\"force\":[{\"fusion\":\"forward-bias-activation\",\"at\":\"0\"}]");
  g_autofree char *allow = apply_all (forbidden);
  g_assert_cmpstr (
    allow, ==,
    "allow forward-bias-activation everywhere; do not force forward-bias-activation at 0");
  g_autoptr (LigSequence) absent = new_sequence ("gelu", "4x8");
  const char *const names[] = {"no-such-fusion", NULL};
  lig_sequence_set_forbidden (absent, names);
  g_autofree char *everywhere = apply_all (absent);
  g_assert_cmpstr (everywhere, ==, "allow no-such-fusion everywhere");
}

static void
test_ops (void)
{
  g_autoptr (LigSequence) empty =
    read_file ("\"ops\":[{\"op\":\"gelu\"},{\"op\":\"block\",\"repeat\":2,\"ops\":[]}]");
  g_autofree char *remove = apply_all (empty);
  g_assert_cmpstr (remove, ==, "remove block at 1");
  g_autoptr (LigSequence) bare = new_sequence ("gelu", "4x8");
  const char *const names[] = {"linear", "reshape", "constant-scale"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LigOp) op = lig_op_new (names[i], NULL);
    lig_sequence_append (bare, op, NULL);
  }
  g_autofree char *text = apply_all (bare);
  g_assert_cmpstr (text, ==,
                   "set out-features to 8 at 1; set shape to [-1, 8] at 2; set scale to 1 at 3");
  g_autoptr (LigSequence) open = lig_sequence_from_expression ("linear(4, in-features=9)", NULL);
  g_autofree char *input = apply_all (open);
  g_assert_cmpstr (input, ==, "set the input to 2048x9:fp32");
}

/* Each kind was applied by one of the tests above, but for the type, which needs a kernel that
 * serves other types. */
static void
test_kinds (void)
{
  for (int kind = 0; kind <= LIG_PROBLEM_FIX_INSERT_OP; kind++)
    if (kind != LIG_PROBLEM_FIX_SET_DTYPE) {
      g_test_message ("%s", lig_problem_fix_kind_name ((LigProblemFixKind) kind));
      g_assert_cmpuint (applied[kind], >, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reasons/problem-fixes/shapes", test_shapes);
  g_test_add_func ("/reasons/problem-fixes/experts", test_experts);
  g_test_add_func ("/reasons/problem-fixes/revealed", test_revealed);
  g_test_add_func ("/reasons/problem-fixes/channels", test_channels);
  g_test_add_func ("/reasons/problem-fixes/rename", test_rename);
  g_test_add_func ("/reasons/problem-fixes/wishes", test_wishes);
  g_test_add_func ("/reasons/problem-fixes/ops", test_ops);
  g_test_add_func ("/reasons/problem-fixes/kinds", test_kinds);
  return g_test_run ();
}
