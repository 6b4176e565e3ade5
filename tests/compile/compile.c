/* SPDX-License-Identifier: MIT */
/* Tests the compiler: plans as golden text on a described device, memory, omitted computations
 * and the cache of plans.
 *
 * LIGATURE_REGENERATE=1 rewrites tests/plans: NAME.lig gives NAME.plan, or NAME.errors if it
 * does not compile. A name that ends in -evaluation is compiled for evaluation, -adamw with an
 * update. */
#include "engine/choose/fuse.h"
#include "engine/compile/compilation.h"
#include "engine/compile/verify.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan-private.h"
#include "engine/state/state.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>

static LigPlanOptions
options_of (LigPolicy policy, gboolean training)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.training = training;
  return options;
}

static char *
describe (const char *file, const char *name, LigDevice *device, gboolean *rejected)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) warnings = NULL;
  LigPlanOptions options = options_of (LIG_POLICY_ALL, !g_str_has_suffix (name, "-evaluation"));
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  if (g_str_has_suffix (name, "-adamw"))
    options.optimizer = &optimizer;
  g_autoptr (LigSequence) sequence = lig_sequence_load (file, &warnings, &error);
  g_autoptr (LigPlan) plan =
    sequence ? lig_plan_compile (sequence, device, &options, &error) : NULL;
  *rejected = plan == NULL;
  if (plan)
    return lig_plan_to_text (plan);
  /* Without the folder, which depends on the machine. */
  const char *message = error->message;
  g_autofree char *folder = g_path_get_dirname (file);
  if (g_str_has_prefix (message, folder))
    message += strlen (folder) + 1;
  return g_strdup_printf ("%s: %s\n", lig_error_code_name (error), message);
}

/* Fails at the first line that differs. */
static void
compare_lines (const char *file, const char *got, const char *wanted)
{
  g_auto (GStrv) ours = g_strsplit (got, "\n", -1), theirs = g_strsplit (wanted, "\n", -1);
  for (guint i = 0; ours[i] || theirs[i]; i++) {
    if (g_strcmp0 (ours[i], theirs[i]) != 0)
      g_test_message ("%s, line %u", file, i + 1);
    g_assert_cmpstr (ours[i], ==, theirs[i]);
  }
}

static void
check_golden (const char *folder, const char *file, LigDevice *device)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strndup (file, strlen (file) - strlen (".lig"));
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *wanted = NULL;
  gboolean rejected;
  g_autofree char *text = describe (path, name, device, &rejected);
  g_autofree char *golden = g_strconcat (folder, "/", name, rejected ? ".errors" : ".plan", NULL);
  g_test_message ("%s", golden);
  if (g_getenv ("LIGATURE_REGENERATE"))
    g_file_set_contents (golden, text, -1, &error);
  else
    g_file_get_contents (golden, &wanted, NULL, &error);
  g_assert_no_error (error);
  if (wanted)
    compare_lines (golden, text, wanted);
}

static void
test_golden (void)
{
  g_autoptr (GError) error = NULL;
  const char *folder = g_getenv ("LIGATURE_TEST_PLANS"), *file;
  guint count = 0;
  if (!folder) {
    g_test_skip ("LIGATURE_TEST_PLANS is not set to the folder of the plans");
    return;
  }
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (GDir) directory = g_dir_open (folder, 0, &error);
  g_assert_no_error (error);
  while ((file = g_dir_read_name (directory)))
    if (g_str_has_suffix (file, ".lig")) {
      check_golden (folder, file, device);
      count++;
    }
  g_assert_cmpuint (count, >, 10);
}

/* The three design examples. */
static const struct {
  const char *expression, *forward, *backward;
} worked[] = {
  {"layer-norm ! linear(32) ! gelu ! linear(16)",
   "[0] [1 2 3 forward-linear-bias-activation] [4 5 forward-linear-bias-activation]",
   "[0] [1] [2 3 backward-activation-bias] [4 5 backward-linear-bias]"},
  {"layer-norm ! linear(32) ! swiglu ! linear(16)",
   "[0] [1 2 forward-linear-bias-activation] [3] [4 5 forward-linear-bias-activation]",
   "[0] [1] [2 3 backward-activation-bias] [4 5 backward-linear-bias]"},
  {"make-extra-output(to=r) ! layer-norm ! linear(32) ! gelu ! linear(16) ! "
   "add-extra-input(from=r)",
   "[0] [1] [2 3 4 forward-linear-bias-activation] [5 6 7 forward-linear-bias-add]",
   "[0 1 backward-add-norm] [2] [3 4 backward-activation-bias] [5 6 backward-linear-bias] [7]"},
};

static void
test_worked (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (worked); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (worked[i].expression, "4x16");
    LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
    options.input_gradient = TRUE;
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    check_groups (plan, worked[i].forward, worked[i].backward);
    options.training = FALSE;
    g_autoptr (LigPlan) evaluation = compile (sequence, &options);
    check_groups (evaluation, worked[i].forward, "");
  }
}

static LigGraph *
graph_of (const char *expression, const char *input, gboolean training)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlanOptions options = options_of (LIG_POLICY_ALL, training);
  LigGraph *graph = lig_graph_new (sequence, cpu_device (), &options, 0, &error);
  g_assert_no_error (error);
  g_assert_true (lig_expand (graph, &error));
  g_assert_true (lig_infer (graph, &error));
  g_assert_true (lig_differentiate (graph, &error));
  g_assert_true (lig_represent (graph, &error));
  g_assert_true (lig_fuse (graph, &error));
  g_assert_true (lig_schedule (graph, &error));
  g_assert_true (lig_verify_steps (graph, &error));
  g_assert_true (lig_allocate (graph, &error));
  g_assert_true (lig_verify_memory (graph, &error));
  return graph;
}

/* Compares all pairs: two values that are live at the same time share no byte, unless one is
 * written in place of the other. */
static void
check_overlaps (const LigGraph *graph)
{
  for (int i = 0; i < (int) graph->values->len; i++)
    for (int j = 0; j < i; j++) {
      const LigPlanValue *a = lig_value (graph, i), *b = lig_value (graph, j);
      if (a->offset < 0 || b->offset < 0)
        continue;
      gboolean disjoint = a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
      gboolean in_place = a->offset == b->offset && (a->first == b->last || b->first == a->last);
      gboolean turns = a->last < b->first || b->last < a->first;
      if (!disjoint && !turns && !in_place)
        g_error ("%s and %s overlap", a->name, b->name);
    }
}

static const char *const mixed[] = {
  "make-extra-output(a) ! linear(32) ! make-extra-output(b) ! layer-norm ! linear(64) ! swiglu ! "
  "dropout ! linear(32) ! add-extra-input(b) ! linear(16) ! add-extra-input(a) ! gelu",
  "block(4) { make-extra-output(r) ! rms-norm ! linear(24) ! relu ! linear(16) ! "
  "add-extra-input(r) } ! linear(8) ! mean-squared-error",
  "linear(64) ! gelu ! linear(48) ! silu ! linear(32) ! relu ! linear(4) ! l2-normalization",
};

static void
test_memory (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (mixed) + G_N_ELEMENTS (worked); i++)
    for (int training = 0; training < 2; training++) {
      const char *expression =
        i < G_N_ELEMENTS (mixed) ? mixed[i] : worked[i - G_N_ELEMENTS (mixed)].expression;
      g_autoptr (LigGraph) graph = graph_of (expression, "64x16", training);
      check_overlaps (graph);
      g_test_message ("%s: arena %ld, peak %ld", expression, (long) graph->arena_bytes,
                      (long) graph->live_peak);
      g_assert_cmpint (graph->arena_bytes, >=, graph->live_peak);
      g_assert_cmpfloat ((double) graph->arena_bytes, <=, 1.3 * (double) graph->live_peak);
    }
}

/* The check that runs on every plan detects errors. */
static void
test_corrupt (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigGraph) graph = graph_of (mixed[0], "64x16", TRUE);
  guint caught = 0, moved = 0;
  for (int i = 0; i < (int) graph->values->len; i++) {
    LigPlanValue *value = lig_value (graph, i);
    const LigPlanValue *input = lig_value (graph, graph->ends.input);
    if (value->offset < 0 || i == graph->ends.input)
      continue;
    gint64 offset = value->offset;
    value->offset = input->offset + 4;
    moved++;
    if (!lig_verify_memory (graph, &error)) {
      g_assert_true (g_str_has_prefix (error->message, "internal: after allocate: "));
      caught++;
    }
    g_clear_error (&error);
    value->offset = graph->arena_bytes - 4;
    if (value->bytes > 4) {
      g_assert_false (lig_verify_memory (graph, &error));
      g_assert_nonnull (strstr (error->message, "ends beyond the arena"));
    }
    g_clear_error (&error);
    value->offset = offset;
  }
  g_assert_cmpuint (caught, ==, moved);
  g_assert_true (lig_verify_memory (graph, &error));
}

/* The caller's input is unchanged after the run; the values after it are written in place. */
static void
test_in_place (void)
{
  g_autoptr (LigSequence) sequence =
    new_sequence ("gelu ! silu ! constant-scale(2) ! relu", "64x16");
  LigPlanOptions options = options_of (LIG_POLICY_NONE, FALSE);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpint (lig_plan_get_arena_bytes (plan, NULL), ==, 2 * 64 * 16 * 4);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) bound = new_program (state, sequence, &options);
  feed_inputs (bound);
  run_program (bound, LIG_RUN_FORWARD);
  g_autoptr (LigTensor) first = lig_program_read_output (bound, NULL);
  run_program (bound, LIG_RUN_FORWARD);
  g_autoptr (LigTensor) second = lig_program_read_output (bound, NULL);
  g_assert_cmpmem (first->data, lig_tensor_bytes (first), second->data, lig_tensor_bytes (second));
}

static const LigPlanValue *
find_value (LigPlan *plan, const char *name)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (values[i].name, name))
      return &values[i];
  g_error ("there is no %s", name);
}

/* A language model needs memory for its largest value only once: the gradient of the logits is
 * written in place, with or without a kernel that reads the logits in between. */
static void
test_logits (void)
{
  for (int accuracy = 0; accuracy < 2; accuracy++) {
    g_autoptr (LigSequence) sequence =
      new_sequence ("embedding(16) ! linear(1000) ! cross-entropy", "4x32:int32");
    LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
    options.accuracy = accuracy;
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    const LigPlanValue *logits = find_value (plan, "#2.y"), *gradient = find_value (plan, "d#2.y");
    gint64 arena = lig_plan_get_arena_bytes (plan, NULL);
    g_test_message ("logits %ld bytes, arena %ld", (long) logits->bytes, (long) arena);
    g_assert_cmpint (logits->bytes, ==, 4 * 32 * 1000 * 4);
    g_assert_cmpint (gradient->offset, ==, logits->offset);
    g_assert_cmpint (arena, <, logits->bytes + logits->bytes / 20);
  }
}

/* An output that aliases its input is an error unless the kernel's signature allows it. */
static void
test_unmarked (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigGraph) graph =
    graph_of ("basic-linear(16) ! basic-linear(16) ! silu", "64x16", FALSE);
  const LigGraphStep *matmul = lig_step (graph, 1), *silu = lig_step (graph, 2);
  LigPlanValue *from = lig_value (graph, matmul->values[0]);
  LigPlanValue *to = lig_value (graph, matmul->values[matmul->plan.n_inputs]);
  g_assert_cmpstr (silu->plan.kernel->name, ==, "silu");
  g_assert_cmpint (lig_value (graph, silu->values[1])->offset, ==, to->offset);
  g_assert_cmpint (from->offset, !=, to->offset);
  to->offset = from->offset;
  g_assert_false (lig_verify_memory (graph, &error));
  g_assert_nonnull (strstr (error->message, "overlap"));
}

static void
check_backward (const char *expression, gboolean input_gradient, const char *kernels)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x8");
  LigPlanOptions options = options_of (LIG_POLICY_NONE, TRUE);
  options.input_gradient = input_gradient;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autofree char *text = kernels_text (plan, LIG_PASS_BACKWARD);
  g_assert_cmpstr (text, ==, kernels);
}

static void
test_unwanted (void)
{
  check_backward ("linear(8) ! gelu ! linear(8)", TRUE,
                  "bias_backward linear_backward_weight linear_backward_input gelu_backward "
                  "bias_backward linear_backward_weight linear_backward_input");
  check_backward ("linear(8) ! gelu ! linear(8)", FALSE,
                  "bias_backward linear_backward_weight linear_backward_input gelu_backward "
                  "bias_backward linear_backward_weight");
  check_backward ("gelu ! dropout ! bias ! silu", FALSE, "silu_backward bias_backward");
  check_backward ("gelu ! dropout", FALSE, "");
  check_backward ("gelu ! dropout", TRUE, "dropout gelu_backward");
  check_backward ("make-extra-output(r) ! gelu ! linear(8) ! add-extra-input(r)", FALSE,
                  "bias_backward linear_backward_weight");
  check_backward ("identity ! reshape([2, 16]) ! constant-scale(2)", TRUE, "scale");
  check_backward ("mean-squared-error", TRUE, "mean_squared_error_backward");
  check_backward ("linear(8) ! mean-squared-error", FALSE,
                  "mean_squared_error_backward bias_backward linear_backward_weight");
}

/* The input gradient has the input's type, regardless of the compute type, and is as exact as the
 * compute type allows. */
static void
test_input_gradient_type (void)
{
  static const LigDtype types[] = {LIG_FP32, LIG_FP16, LIG_BF16};
  static const char *const expressions[] = {"linear(8) ! gelu ! linear(8)", "identity",
                                            "make-extra-output(r) ! relu ! add-extra-input(r)"};
  for (guint n = 0; n < 9 * G_N_ELEMENTS (expressions); n++) {
    LigDtype given = types[n % 3], computed = types[n / 3 % 3];
    g_autofree char *input = g_strdup_printf ("4x8:%s", lig_dtype_name (given));
    g_autoptr (LigSequence) sequence = new_sequence (expressions[n / 9], input);
    LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
    options.input_gradient = TRUE;
    options.parameters = LIG_FP32;
    options.compute = LIG_FP32;
    g_autoptr (Results) exact = compute (sequence, &options);
    options.compute = (int) computed;
    g_autoptr (Results) results = compute (sequence, &options);
    const LigTensor *gradient = results_find (results, "grad.input");
    g_assert_cmpstr (lig_dtype_name (gradient->dtype), ==, lig_dtype_name (given));
    g_assert_cmpfloat (distance_between (gradient, results_find (exact, "grad.input")), <=,
                       2 * MAX (plan_tolerance (computed), plan_tolerance (given)));
  }
}

static void
test_evaluation (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (mixed[0], "4x16");
  LigPlanOptions options = options_of (LIG_POLICY_ALL, FALSE);
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.optimizer = &optimizer;
  guint count;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    g_assert_false (values[i].saved);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_cmpint (ops[i].saved_bytes, ==, 0);
    g_assert_false (ops[i].needs_backward);
  }
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_cmpint (steps[i].pass, ==, LIG_PASS_FORWARD);
    /* Values that only the backward pass needs are not computed. */
    g_autofree char *operands = lig_plan_name_operands (plan, &steps[i]);
    if (g_str_has_prefix (steps[i].kernel->name, "layer_norm"))
      g_assert_true (g_str_has_suffix (operands, ".y - -"));
  }
  lig_plan_get_groups (plan, LIG_PASS_BACKWARD, &count);
  g_assert_cmpuint (count, ==, 0);
}

/* A branch without readers costs nothing. */
static void
test_dead_branch (void)
{
  gint64 bytes[2];
  for (int i = 0; i < 2; i++) {
    LigPlanOptions options = options_of (LIG_POLICY_NONE, TRUE);
    options.input_gradient = TRUE;
    g_autoptr (LigSequence) sequence = new_sequence (
      i ? "linear(8) ! make-extra-output(to=nobody) ! gelu" : "linear(8) ! gelu", "4x8");
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    g_autofree char *text = kernels_text (plan, LIG_PASS_BACKWARD);
    g_assert_cmpstr (text, ==,
                     "gelu_backward bias_backward linear_backward_weight linear_backward_input");
    bytes[i] = lig_plan_get_arena_bytes (plan, NULL);
  }
  g_assert_cmpint (bytes[0], ==, bytes[1]);
}

/* Returns the state's plan, which its cache keeps. */
static LigPlan *
cached (LigState *state, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, options, &error);
  g_assert_no_error (error);
  return plan;
}

static void
test_cache (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! dropout ! linear(4)", "4x8");
  LigPlanOptions training = options_of (LIG_POLICY_ALL, TRUE);
  LigPlanOptions evaluation = options_of (LIG_POLICY_ALL, FALSE);
  g_autoptr (LigState) state = new_state (sequence, &training);
  g_autoptr (LigPlan) first = lig_plan_ref (cached (state, sequence, &training));
  LigPlan *plans[2] = {first, cached (state, sequence, &evaluation)};
  g_assert_true (plans[0] != plans[1]);
  for (int i = 0; i < 6; i++)
    g_assert_true (cached (state, sequence, i % 2 ? &evaluation : &training) == plans[i % 2]);
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 2);
  evaluation.batch = 9;
  g_assert_true (cached (state, sequence, &evaluation) != plans[1]);
  evaluation.batch = 0;
  g_assert_true (cached (state, sequence, &evaluation) == plans[1]);
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 3);
  guint64 version = lig_sequence_get_version (sequence);
  g_assert_cmpuint (lig_plan_get_version (first), ==, version);
  g_object_set (lig_sequence_get (sequence, 1, NULL), "p", 0.5, NULL);
  g_assert_cmpuint (lig_sequence_get_version (sequence), >, version);
  /* The plans of the earlier version are freed, except those with another reference. */
  LigPlan *edited = cached (state, sequence, &training);
  g_assert_cmpuint (lig_plan_get_version (edited), >, version);
  g_assert_cmpuint (lig_plan_get_version (first), ==, version);
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 4);
}

/* A different optimizer, type or policy needs a different plan. */
static void
test_cache_keys (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! gelu", "4x8");
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigState) state = new_state (sequence, &options);
  cached (state, sequence, &options);
  options.input_gradient = TRUE;
  cached (state, sequence, &options);
  options.optimizer = &optimizer;
  cached (state, sequence, &options);
  optimizer.adamw.beta1 = 0.5f;
  cached (state, sequence, &options);
  optimizer = (LigOptimizer){.name = "sgd"};
  cached (state, sequence, &options);
  options.policy = LIG_POLICY_NONE;
  cached (state, sequence, &options);
  options.compute = LIG_BF16;
  options.parameters = LIG_FP32;
  cached (state, sequence, &options);
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 7);
  cached (state, sequence, &options);
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 7);
}

static void
test_share (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4) ! mean-squared-error", "4x8");
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
  LigOptimizer optimizer = {.name = "sgd"};
  options.optimizer = &optimizer;
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) training = new_program (state, sequence, &options);
  options.training = FALSE;
  g_autoptr (LigProgram) evaluation = new_program (state, sequence, &options);
  feed_inputs (training);
  feed_inputs (evaluation);
  for (int i = 0; i < 3; i++) {
    lig_program_set_rate (training, 0.1, 0);
    run_program (training, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    float before = read_loss (training);
    run_program (evaluation, LIG_RUN_FORWARD);
    g_assert_cmpfloat (read_loss (evaluation), <, before);
    run_program (training, LIG_RUN_FORWARD);
    g_assert_cmpfloat (read_loss (evaluation), ==, read_loss (training));
  }
}

/* A plan of another sequence cannot be bound to the state. */
static void
test_misfit (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4)", "4x8");
  g_autoptr (LigSequence) other = new_sequence ("linear(5)", "4x8");
  LigPlanOptions options = options_of (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_assert_null (lig_state_plan (state, other, &options, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  g_assert_cmpstr (error->message, ==,
                   "the state has 0.weight 4x8 where the plan needs 0.weight 5x8");
  g_clear_error (&error);
  options.parameters = LIG_BF16;
  g_assert_null (lig_state_plan (state, sequence, &options, &error));
  g_assert_cmpstr (error->message, ==,
                   "the state has 2 parameters in fp32, the plan needs 2 in bf16");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/golden", test_golden);
  g_test_add_func ("/compile/worked", test_worked);
  g_test_add_func ("/compile/memory", test_memory);
  g_test_add_func ("/compile/corrupt", test_corrupt);
  g_test_add_func ("/compile/in-place", test_in_place);
  g_test_add_func ("/compile/logits", test_logits);
  g_test_add_func ("/compile/unmarked", test_unmarked);
  g_test_add_func ("/compile/unwanted", test_unwanted);
  g_test_add_func ("/compile/input-gradient-type", test_input_gradient_type);
  g_test_add_func ("/compile/evaluation", test_evaluation);
  g_test_add_func ("/compile/dead-branch", test_dead_branch);
  g_test_add_func ("/compile/cache", test_cache);
  g_test_add_func ("/compile/cache-keys", test_cache_keys);
  g_test_add_func ("/compile/share", test_share);
  g_test_add_func ("/compile/misfit", test_misfit);
  return g_test_run ();
}
