/* SPDX-License-Identifier: MIT */
/* Tests values that the backward pass recomputes: the same bits, less memory, and no unnecessary
 * step. */
#include "tests/plan/case.h"
#include <ligature/compile.h>

/* Each has values that can be recomputed. */
static const struct {
  const char *name, *expression, *input;
} cases[] = {
  {"chain", "linear(24) ! gelu ! linear(8) ! layer-norm ! linear(24) ! silu ! linear(8)", "9x8"},
  {"block", "block(3) { layer-norm ! linear(32) ! gelu ! linear(8) } ! linear(5)", "9x8"},
  {"nested",
   "block(2) { linear(8) ! block(2) { rms-norm ! linear(16) ! swiglu ! linear(8) } ! gelu }",
   "9x8"},
  {"into-a-block",
   "linear(8) ! make-extra-output(a) ! block(3) { layer-norm ! linear(24) ! gelu ! linear(8) ! "
   "add-extra-input(../a) }",
   "9x8"},
  {"residuals",
   "block(3) { make-extra-output(a) ! layer-norm ! linear(24) ! gelu ! linear(8) ! dropout(0.3) ! "
   "add-extra-input(a) }",
   "9x8"},
  {"load-branch",
   "block(4) { make-extra-output(a) ! linear(12) ! silu ! linear(8) ! make-extra-output(b) ! "
   "load-branch(a) ! layer-norm ! linear(8) ! gelu ! add-extra-input(b) } ! linear(8)",
   "9x8"},
  {"caller",
   "block(4) { layer-norm ! linear(16) ! gelu ! linear(8) ! make-extra-output(caller=true) ! "
   "add-extra-input }",
   "9x8"},
  {"macros",
   "layer-norm-linear(8) ! layer-norm-mlp(24, activation=swiglu) ! multi-head-attention(2) ! "
   "transformer-layer(2, hidden-dropout=0.2, attention-dropout=0.2, drop-path=0.1)",
   "2x5x8"},
  {"language-model",
   "embedding(8, vocabulary=11) ! position-embedding(5) ! block(3) { transformer-layer(2) } ! "
   "layer-norm ! linear(11, bias=false, tied=0) ! cross-entropy",
   "3x5:int32"},
  {"decoder",
   "make-extra-output(m) ! block(2) { transformer-layer(2, layer-type=decoder, memory=../m, "
   "rotary=true, qk-norm=rms) }",
   "2x5x8"},
  {"frozen",
   "block(2, trained=false) { linear(24) ! gelu ! linear(8) ! layer-norm } ! linear(24) ! gelu ! "
   "linear(8)",
   "9x8"},
  {"transformer", "block(2) { transformer-layer(2, hidden-dropout=0.1) }", "2x5x8"},
  {"reshape", "linear(8) ! reshape([3, 24]) ! layer-norm ! linear(24) ! gelu ! linear(8)", "9x8"},
};

static void
assert_same (const Results *got, const Results *want, const char *what)
{
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    const LigTensor *a = want->tensors->pdata[i], *b = results_find (got, want->names->pdata[i]);
    g_assert_nonnull (b);
    if (memcmp (a->data, b->data, lig_tensor_bytes (a)))
      g_error ("%s: %s differs bitwise", what, (char *) want->names->pdata[i]);
  }
}

static LigPlan *
new_plan (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigPlan *plan = lig_plan_compile (sequence, cpu_device (), options, &error);
  g_assert_no_error (error);
  return plan;
}

static guint
count_again (LigPlan *plan, const char *kernel)
{
  guint count, again = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_true (!steps[i].again || steps[i].pass == LIG_PASS_BACKWARD);
    again += steps[i].again && (!kernel || g_str_equal (steps[i].kernel->name, kernel));
  }
  return again;
}

static Results *
compute_trained (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigState) state = new_state (sequence, options);
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  LigTensor *tensor;
  for (int i = 0; i < 2; i++) {
    feed_inputs (program);
    feed_gradients (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | (i > 0 ? LIG_RUN_ACCUMULATE : 0));
  }
  Results *results = read_results (program, FALSE);
  if ((tensor = lig_program_read_input_gradient (program, NULL)))
    results_take (results, g_strdup ("grad.input"), tensor);
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    if ((tensor = lig_state_get (state, LIG_STATE_GRADIENTS, *path, NULL)))
      results_take (results, g_strdup_printf ("grad.%s", *path), tensor);
  return results;
}

/* Two micro-batches give the same bits. */
static void
check_bits (guint n, LigPolicy policy, LigDtype compute)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.compute = (int) compute;
  options.accumulate = TRUE;
  options.input_gradient = !g_str_has_suffix (cases[n].input, "int32");
  g_autoptr (LigSequence) sequence = new_sequence (cases[n].expression, cases[n].input);
  g_autoptr (LigPlan) plain = new_plan (sequence, &options);
  g_autoptr (Results) want = compute_trained (sequence, &options);
  gint64 before, after;
  g_assert_cmpuint (count_again (plain, NULL), ==, 0);
  g_assert_cmpint (lig_plan_get_spared_bytes (plain), ==, 0);
  lig_plan_get_arena_bytes (plain, &before);
  /* For fused matmuls, which round once, cheap recomputation repeats only the ops after them. */
  int min =
    policy == LIG_POLICY_ALL && compute != LIG_FP32 ? LIG_RECOMPUTE_ALL : LIG_RECOMPUTE_CHEAP;
  for (int level = min; level <= LIG_RECOMPUTE_ALL; level++) {
    options.recompute = (LigRecompute) level;
    g_autoptr (LigPlan) plan = new_plan (sequence, &options);
    g_autoptr (Results) got = compute_trained (sequence, &options);
    assert_same (got, want, cases[n].name);
    lig_plan_get_arena_bytes (plan, &after);
    g_assert_cmpint (before - after, ==, lig_plan_get_spared_bytes (plan));
    g_assert_true ((count_again (plan, NULL) > 0) == (after < before));
    if (policy == LIG_POLICY_NONE && after >= before)
      g_error ("%s needs %d bytes with level %d", cases[n].name, (int) after, level);
  }
}

static void
test_bits (gconstpointer data)
{
  guint n = GPOINTER_TO_UINT (data);
  check_bits (n, LIG_POLICY_NONE, LIG_FP32);
  check_bits (n, LIG_POLICY_ALL, LIG_FP32);
  check_bits (n, LIG_POLICY_NONE, LIG_BF16);
  check_bits (n, LIG_POLICY_ALL, LIG_BF16);
  check_bits (n, LIG_POLICY_NONE, LIG_FP16);
  check_bits (n, LIG_POLICY_ALL, LIG_FP16);
}

/* A fused kernel rounds to 16 bits at different points than the unfused kernels. */
static void
test_rounding (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.compute = LIG_BF16;
  options.accumulate = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (cases[1].expression, cases[1].input);
  g_autoptr (Results) want = compute_trained (sequence, &options);
  options.recompute = LIG_RECOMPUTE_CHEAP;
  g_autoptr (Results) got = compute_trained (sequence, &options);
  for (guint i = 0; i < want->names->len; i++)
    g_assert_cmpfloat (
      distance_between (results_find (got, want->names->pdata[i]), want->tensors->pdata[i]), <,
      1.6e-2);
}

static LigPlan *
plan_of (const char *expression, const char *input, LigRecompute level)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  options.recompute = level;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  return new_plan (sequence, &options);
}

/* Of ten activations, those that are live at the memory peak, the end of the forward pass, are
 * recomputed. The last activation's matmul comes right after it. */
static void
test_bytes (void)
{
  static const char chain[] = "block(10) { basic-linear(32) ! gelu } ! mean-squared-error";
  const gint64 value = 64 * 32 * sizeof (float);
  g_autoptr (LigPlan) plan = plan_of (chain, "64x32", LIG_RECOMPUTE_CHEAP);
  g_assert_cmpint (lig_plan_get_spared_bytes (plan), ==, 9 * value);
  g_assert_cmpuint (count_again (plan, "gelu"), ==, 9);
  g_assert_cmpuint (count_again (plan, NULL), ==, 9);
  g_autoptr (LigPlan) all = plan_of (chain, "64x32", LIG_RECOMPUTE_ALL);
  g_assert_cmpint (lig_plan_get_spared_bytes (all), ==, 9 * value);
  g_assert_cmpuint (count_again (all, "linear"), >=, 9);
  g_autofree char *text = lig_plan_to_text (plan);
  g_assert_nonnull (strstr (text, "#17.y:again 64x32:fp32"));
  g_assert_nonnull (strstr (text, " recomputed in backward\n"));
}

/* The output of relu is saved for both of its neighbours, statistics are small, and dropout saves
 * nothing. */
static void
test_nothing (void)
{
  static const char *const nothing[] = {
    "block(4) { linear(16) ! relu } ! linear(4)",
    "block(4) { linear(16) ! dropout(0.5) } ! linear(4)",
    "linear(16) ! cross-entropy",
    "gelu",
  };
  for (guint i = 0; i < G_N_ELEMENTS (nothing); i++) {
    g_autoptr (LigPlan) plan = plan_of (nothing[i], "32x16", LIG_RECOMPUTE_CHEAP);
    g_assert_cmpuint (count_again (plan, NULL), ==, 0);
    g_assert_cmpint (lig_plan_get_spared_bytes (plan), ==, 0);
  }
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.recompute = LIG_RECOMPUTE_ALL;
  options.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence (cases[1].expression, cases[1].input);
  g_autoptr (LigPlan) evaluation = new_plan (sequence, &options);
  g_assert_cmpuint (count_again (evaluation, NULL), ==, 0);
}

/* The innermost parameter applies, and the options apply to ops without one. */
static void
test_places (void)
{
  static const struct {
    const char *parameters[2];
    LigRecompute level;
    gboolean matmuls, norms;
  } places[] = {
    {{"", ""}, LIG_RECOMPUTE_NONE, FALSE, FALSE},
    {{"", ""}, LIG_RECOMPUTE_CHEAP, FALSE, TRUE},
    {{"", ""}, LIG_RECOMPUTE_ALL, TRUE, TRUE},
    {{", recompute=none", ""}, LIG_RECOMPUTE_ALL, FALSE, FALSE},
    {{", recompute=inherit", ", recompute=inherit"}, LIG_RECOMPUTE_CHEAP, FALSE, TRUE},
    {{", recompute=cheap", ""}, LIG_RECOMPUTE_NONE, FALSE, TRUE},
    {{", recompute=all", ""}, LIG_RECOMPUTE_NONE, TRUE, TRUE},
    {{", recompute=all", ", recompute=none"}, LIG_RECOMPUTE_ALL, FALSE, FALSE},
    {{"", ", recompute=all"}, LIG_RECOMPUTE_NONE, TRUE, TRUE},
    {{", recompute=none", ", recompute=cheap"}, LIG_RECOMPUTE_NONE, FALSE, TRUE},
  };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *expression = g_strdup_printf (
      "block(4%s) { layer-norm-mlp(32%s) }", places[i].parameters[0], places[i].parameters[1]);
    g_autoptr (LigPlan) plan = plan_of (expression, "32x16", places[i].level);
    g_assert_true ((count_again (plan, "linear") > 0) == places[i].matmuls);
    g_assert_true ((count_again (plan, "layer_norm") > 0) == places[i].norms);
  }
}

/* Groups keep their own steps, and added steps have predicted times, including those of kernels
 * that fusions replaced in the forward pass. */
static void
test_times (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence =
    new_sequence ("block(3) { transformer-layer(2) }", "8x64x128:fp32");
  options.policy = LIG_POLICY_ALL;
  options.recompute = LIG_RECOMPUTE_CHEAP;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  guint n_steps, count, again = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_BACKWARD, &count);
  for (guint i = 0; i < count; i++)
    for (int k = 0; k < groups[i].n_steps; k++) {
      g_assert_cmpint (steps[groups[i].steps[k]].pass, ==, LIG_PASS_BACKWARD);
      g_assert_cmpint (steps[groups[i].steps[k]].group, ==, (int) i);
    }
  for (guint i = 0; i < n_steps; i++) {
    again += steps[i].again;
    g_assert_true (!steps[i].again || steps[i].predicted > 0);
  }
  g_assert_cmpuint (again, >, 0);
}

/* The file's `train` object is the default, and an unknown word is an error. */
static void
test_train_object (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence (cases[1].expression, cases[1].input);
  lig_sequence_set_train (sequence, "{\"recompute\": \"cheap\"}");
  g_autoptr (LigPlan) plan = new_plan (sequence, &options);
  g_assert_cmpint (lig_plan_get_recompute (plan), ==, LIG_RECOMPUTE_CHEAP);
  g_assert_cmpuint (count_again (plan, NULL), >, 0);
  options.recompute = LIG_RECOMPUTE_NONE;
  g_autoptr (LigPlan) none = new_plan (sequence, &options);
  g_assert_cmpuint (count_again (none, NULL), ==, 0);
  options.recompute = LIG_RECOMPUTE_DEFAULT;
  lig_sequence_set_train (sequence, "{\"recompute\": \"al\"}");
  g_assert_null (lig_plan_compile (sequence, cpu_device (), &options, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, "recompute is 'al', expected none, cheap or all");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strconcat ("/compile/recompute/bits/", cases[i].name, NULL);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_bits);
  }
  g_test_add_func ("/compile/recompute/rounding", test_rounding);
  g_test_add_func ("/compile/recompute/bytes", test_bytes);
  g_test_add_func ("/compile/recompute/nothing", test_nothing);
  g_test_add_func ("/compile/recompute/places", test_places);
  g_test_add_func ("/compile/recompute/times", test_times);
  g_test_add_func ("/compile/recompute/train-object", test_train_object);
  return g_test_run ();
}
