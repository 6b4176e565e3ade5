/* SPDX-License-Identifier: MIT */
/* Tests frozen parameters: they keep their values, have neither gradients nor optimizer state, and
 * no backward step runs for them or before them. Parameters that ops change themselves have
 * neither, and are kept in fp32 among those of other types. */
#include "tests/plan/case.h"
#include <ligature/optimizer.h>

static const char network[] =
  "linear(7) ! layer-norm ! gelu ! linear(6) ! silu ! linear(4) ! mean-squared-error";

static void
freeze (LigSequence *sequence, const char *path)
{
  g_autoptr (GError) error = NULL;
  LigOp *op = lig_sequence_find (sequence, path, &error);
  g_assert_no_error (error);
  lig_op_set_trained (op, FALSE);
}

static gboolean
is_of (const char *path, const char *op)
{
  return g_str_has_prefix (path, op) && path[strlen (op)] == '.';
}

/* Trains for some steps. */
static void
train (LigProgram *program, int steps)
{
  lig_program_set_rate (program, 0.05, 1);
  for (int i = 0; i < steps; i++) {
    feed_inputs (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
  }
}

/* Frozen values do not change, and all others do. */
static void
check_training (LigDtype compute, LigDtype parameters, LigPolicy policy)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  options.compute = compute;
  options.parameters = parameters;
  options.policy = policy;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  freeze (sequence, "3");
  freeze (sequence, "1");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigState) before = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  train (program, 3);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (GError) error = NULL;
    gboolean frozen = is_of (*path, "1") || is_of (*path, "3");
    g_autoptr (LigTensor) old = read_value (before, LIG_STATE_PARAMETERS, *path);
    g_autoptr (LigTensor) new = read_value (state, LIG_STATE_PARAMETERS, *path);
    g_assert_cmpint (lig_state_is_trained (state, *path), ==, !frozen);
    if (frozen) {
      g_assert_cmpmem (old->data, lig_tensor_bytes (old), new->data, lig_tensor_bytes (new));
      g_assert_null (lig_state_get (state, LIG_STATE_GRADIENTS, *path, &error));
      g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
      g_clear_error (&error);
      g_assert_null (lig_state_get (state, LIG_STATE_KEPT, *path, &error));
      g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
    } else
      g_assert_cmpfloat (distance_between (new, old), >, 0);
  }
}

static void
test_training (void)
{
  for (int policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
    check_training (LIG_FP32, LIG_FP32, (LigPolicy) policy);
    check_training (LIG_BF16, LIG_FP32, (LigPolicy) policy);
    check_training (LIG_BF16, LIG_BF16, (LigPolicy) policy);
  }
}

/* The other gradients are bit-identical to those without frozen ops, whichever are frozen. */
static void
test_gradients (void)
{
  static const char *const frozen[][4] = {
    {"0", NULL}, {"1", NULL}, {"3", "5", NULL}, {"0", "1", NULL}, {"0", "1", "3", NULL}};
  for (guint n = 0; n < G_N_ELEMENTS (frozen); n++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = LIG_POLICY_NONE;
    g_autoptr (LigSequence) all = new_sequence (network, "5x6");
    g_autoptr (LigSequence) some = new_sequence (network, "5x6");
    for (const char *const *path = frozen[n]; *path; path++)
      freeze (some, *path);
    g_autoptr (Results) whole = compute (all, &options);
    g_autoptr (LigState) state = new_state (some, &options);
    g_autoptr (LigProgram) program = new_program (state, some, &options);
    feed_inputs (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
    guint count = 0;
    for (const char *const *path = lig_state_get_paths (state); *path; path++) {
      if (!lig_state_is_trained (state, *path))
        continue;
      g_autofree char *name = g_strconcat ("grad.", *path, NULL);
      g_autoptr (LigTensor) gradient = read_value (state, LIG_STATE_GRADIENTS, *path);
      g_assert_cmpfloat (distance_between (gradient, results_find (whole, name)), ==, 0);
      count++;
    }
    g_assert_cmpuint (count, >, 0);
  }
}

/* Fused kernels omit the gradients of frozen parameters, and compute the others. */
static void
test_fused (void)
{
  static const char *const networks[] = {
    "linear(8) ! gelu ! linear(6) ! relu ! linear(4)",
    "linear(8) ! swiglu ! linear(6) ! silu ! layer-norm ! linear(4)",
    "make-extra-output(to=r) ! layer-norm ! linear(8) ! gelu ! linear(6) ! add-extra-input(from=r) "
    "! make-extra-output(to=s) ! rms-norm ! linear(6) ! add-extra-input(from=s) ! linear(4)",
    "linear(12) ! constant-scale(0.5) ! geglu ! linear(6) ! bias ! qgelu ! linear(4)"};
  static const char *const patterns[] = {"*.weight", "*.bias", "0.*,4.*", "1.*", "2.*", "3.*"};
  for (guint n = 0; n < G_N_ELEMENTS (networks); n++)
    for (guint i = 0; i < G_N_ELEMENTS (patterns); i++) {
      LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
      g_autoptr (LigSequence) sequence = new_sequence (networks[n], "5x6");
      g_autoptr (Results) whole = compute (sequence, &options);
      options.freeze = patterns[i];
      g_autoptr (GError) error = NULL;
      g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 7, &error);
      if (g_error_matches (error, LIG_ERROR, LIG_ERROR_VALUE))
        continue; /* an op without parameters */
      g_clear_object (&state);
      state = new_state (sequence, &options);
      g_autoptr (LigProgram) program = new_program (state, sequence, &options);
      feed_inputs (program);
      feed_gradients (program);
      run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
      for (const char *const *path = lig_state_get_paths (state); *path; path++) {
        if (!lig_state_is_trained (state, *path))
          continue;
        g_autofree char *name = g_strconcat ("grad.", *path, NULL);
        g_autoptr (LigTensor) gradient = read_value (state, LIG_STATE_GRADIENTS, *path);
        double distance = distance_between (gradient, results_find (whole, name));
        if (!(distance <= 1e-6))
          g_error ("%s frozen by %s: d%s is off by %g", networks[n], patterns[i], *path, distance);
      }
    }
}

/* With the gradient of the input, every op runs backward, but none for the frozen parameters. */
static void
test_steps (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(7, trained=false) ! gelu ! linear(3)", "5x6");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autofree char *backward = kernels_text (plan, LIG_PASS_BACKWARD);
  g_assert_cmpstr (backward, ==, "bias_backward linear_backward_weight");
  options.input_gradient = TRUE;
  g_autoptr (LigPlan) through = compile (sequence, &options);
  g_autofree char *more = kernels_text (through, LIG_PASS_BACKWARD);
  g_assert_cmpstr (more, ==,
                   "bias_backward linear_backward_weight linear_backward_input gelu_backward "
                   "linear_backward_input");
  options.input_gradient = FALSE;
  g_autoptr (LigSequence) none =
    new_sequence ("block(2, trained=false) { linear(6) ! gelu } ! linear(3, trained=false)", "5x6");
  g_autoptr (LigPlan) empty = compile (none, &options);
  g_autofree char *nothing = kernels_text (empty, LIG_PASS_BACKWARD);
  g_assert_cmpstr (nothing, ==, "");
  g_assert_cmpint (lig_plan_get_state_bytes (empty), ==, 4 * (3 * 64 + 3 * 64));
}

/* Gradients and moments have the length of only the trained parameters. */
static void
test_bytes (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! linear(8)", "4x8");
  g_autoptr (LigPlan) all = compile (sequence, &options);
  g_assert_cmpint (lig_plan_get_state_bytes (all), ==, 4 * 4 * (4 * 64));
  options.freeze = "0.*";
  g_autoptr (LigPlan) half = compile (sequence, &options);
  g_assert_cmpint (lig_plan_get_state_bytes (half), ==, 4 * 4 * 64 + 3 * 4 * 2 * 64);
  options.freeze = "*.bias,1.weight";
  g_autoptr (LigPlan) one = compile (sequence, &options);
  g_assert_cmpint (lig_plan_get_state_bytes (one), ==, 4 * 4 * 64 + 3 * 4 * 64);
}

/* A block that is frozen covers its ops; a tied op contributes unless it is frozen itself. */
static void
test_tied (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (LigSequence) root =
    new_sequence ("basic-linear(6, trained=false) ! gelu ! basic-linear(6, tied=0)", "5x6");
  g_autoptr (LigPlan) fixed = compile (root, &options);
  g_autofree char *nothing = kernels_text (fixed, LIG_PASS_BACKWARD);
  g_assert_cmpstr (nothing, ==, "");
  g_autoptr (LigSequence) reader =
    new_sequence ("basic-linear(6) ! gelu ! basic-linear(6, tied=0, trained=false)", "5x6");
  g_autoptr (LigPlan) half = compile (reader, &options);
  g_autofree char *some = kernels_text (half, LIG_PASS_BACKWARD);
  g_assert_cmpstr (some, ==, "linear_backward_input gelu_backward linear_backward_weight");
}

static void
count_elements (LigPlan *plan, gint64 *frozen, gint64 *own)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  *frozen = *own = 0;
  for (guint i = 0; i < count; i++) {
    *frozen += ops[i].frozen;
    *own += ops[i].own_updated;
  }
}

/* Checks that a correction moved by a step or not at all, and no further than rounding allows. */
static gboolean
check_correction (LigState *state, const char *path, const LigTensor *old)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) new = read_value (state, LIG_STATE_PARAMETERS, path);
  gboolean moved = FALSE;
  g_assert_cmpint (new->dtype, ==, LIG_FP32);
  for (gint64 i = 0; i < new->size; i++) {
    double change = fabs (lig_tensor_get (new, i) - lig_tensor_get (old, i));
    g_assert_true (change == 0 || fabs (change - 0.001) < 1e-6);
    moved |= change > 0;
  }
  g_assert_false (lig_state_is_trained (state, path));
  g_assert_null (lig_state_get (state, LIG_STATE_GRADIENTS, path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  return moved;
}

/* Corrections of routers before, between and after other parameters that are not trained. */
static void
test_own_update (void)
{
  static const char expression[] =
    "mixture-of-experts(5, expert-features=4, score=sigmoid, balance=0.001) ! layer-norm ! "
    "linear(6) ! mixture-of-experts(3, expert-features=4, score=sigmoid, balance=0.001) ! "
    "mean-squared-error";
  static const char *const freeze[] = {NULL, "1.*,2.*", "*.correction"};
  static const LigDtype types[] = {LIG_FP32, LIG_BF16, LIG_FP16};
  for (guint n = 0; n < G_N_ELEMENTS (freeze) * G_N_ELEMENTS (types); n++) {
    LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    gint64 frozen, own;
    options.optimizer = &optimizer;
    optimizer.loss_scale = 1; /* the first updates of fp16 would be skipped */
    options.compute = options.parameters = types[n / 3];
    options.freeze = freeze[n % 3];
    g_autoptr (LigSequence) sequence = new_sequence (expression, "40x6");
    g_autoptr (LigState) state = new_state (sequence, &options);
    g_autoptr (LigProgram) program = new_program (state, sequence, &options);
    count_elements (lig_program_get_plan (program), &frozen, &own);
    g_assert_cmpint (own, ==, n % 3 == 2 ? 0 : 8);
    g_assert_cmpint (frozen, ==, n % 3 == 0 ? 0 : n % 3 == 1 ? 12 + 42 : 8);
    train (program, 1);
    for (const char *const *path = lig_state_get_paths (state); *path; path++) {
      g_autoptr (LigTensor) now = read_value (state, LIG_STATE_PARAMETERS, *path);
      g_autoptr (LigTensor) old = named_tensor (*path, LIG_FP32, &now->shape, 1);
      gboolean correction = g_str_has_suffix (*path, ".correction");
      if (correction)
        g_assert_cmpint (check_correction (state, *path, old), ==, n % 3 != 2);
      else /* nothing overlaps */
        g_assert_cmpfloat (distance_between (now, old), <, 0.5);
    }
  }
}

static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence (network, "5x6");
  options.freeze = "0.*,9.weight";
  check_rejected (sequence, &options, LIG_ERROR_VALUE,
                  "no parameter has a path like '9.weight' to freeze; there are 0.weight, 0.bias, "
                  "1.weight …; did you mean '0.weight'?");
  options.freeze = "0.*";
  g_autoptr (LigState) state = new_state (sequence, &options);
  options.freeze = NULL;
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, &error);
  g_assert_null (plan);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, "0.weight is frozen in the state, but the plan trains it");
}

/* Files and expressions contain the property only if it is set. */
static void
test_files (void)
{
  static const char expression[] =
    "linear(7, trained=false) ! block(2, trained=false) { gelu } ! linear(3)";
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "5x6");
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_assert_nonnull (strstr (json, "{\"op\": \"linear\", \"out-features\": 7, \"trained\": false}"));
  g_autoptr (LigSequence) again = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *text = lig_sequence_to_expression (again);
  g_assert_cmpstr (text, ==, expression);
  g_autoptr (LigSequence) copy = lig_sequence_copy (again);
  g_autofree char *copied = lig_sequence_to_expression (copy);
  g_assert_cmpstr (copied, ==, expression);
  g_assert_null (lig_sequence_from_expression ("linear(7, trained=1)", &error));
  g_assert_cmpstr (error->message, ==,
                   "column 19: trained of linear: expected true or false, got 1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frozen/training", test_training);
  g_test_add_func ("/frozen/gradients", test_gradients);
  g_test_add_func ("/frozen/fused", test_fused);
  g_test_add_func ("/frozen/steps", test_steps);
  g_test_add_func ("/frozen/bytes", test_bytes);
  g_test_add_func ("/frozen/tied", test_tied);
  g_test_add_func ("/frozen/own-update", test_own_update);
  g_test_add_func ("/frozen/rejected", test_rejected);
  g_test_add_func ("/frozen/files", test_files);
  return g_test_run ();
}
