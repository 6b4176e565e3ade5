/* SPDX-License-Identifier: MIT */
/* Kernels require exactly what kernel-list.h declares: those that ignore the tick run without one,
 * those that use random numbers get new ones, and attention requests the memory that its summation
 * order needs. */
#include "kernels/demands.h"
#include "engine/program/private.h"
#include "kernels/attention-scratch.h"
#include "tests/gpu/operands.h"
#include "tests/plan/case.h"
#include <ligature/cache.h>
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/params-positions.h>
#include <ligature/sampling.h>

static void
run_without_tick (const LigKernel *kernel, Problem problem, gpointer workspace)
{
  Operands o = operands_for (kernel, problem);
  for (int i = 0; i < o.count; i++) {
    gsize bytes = operand_bytes (&o.operands[i]) + 64;
    o.operands[i].data = memset (g_aligned_alloc (bytes, 1, 64), 0, bytes);
    if (i < o.inputs || is_updated (&o, i))
      fill_operand (&o, i);
  }
  fill_derived (&o);
  LigLaunch launch = {
    .operands = o.operands, .params = params_for (kernel->name, 1), .workspace = workspace};
  LigStatus status = kernel->functions[LIG_BACKEND_CPU](&launch);
  if (status != LIG_OK)
    g_error ("%s: %s", kernel->name, launch.where);
  for (int i = 0; i < o.count; i++)
    g_aligned_free (o.operands[i].data);
}

/* A kernel that reads a missing tick ends the test. */
static void
test_plain (void)
{
  g_autofree char *raw = g_malloc0 (LIG_WORKSPACE_SIZE + 256);
  char *workspace = raw + (256 - GPOINTER_TO_SIZE (raw) % 256);
  const LigKernel *kernel;
  guint count = 0;
  for (int i = 0; (kernel = lig_kernel_nth (i)); i++) {
    if (is_shaped (kernel->name) || !lig_kernel_ignores_tick (kernel))
      continue;
    run_without_tick (kernel, (Problem){5, 33, 7, LIG_FP32, LIG_FP32}, workspace);
    run_without_tick (kernel, (Problem){257, 64, 7, LIG_BF16, LIG_BF16}, workspace);
    count++;
  }
  g_assert_cmpuint (count, >, 50);
}

/* Takes the tick from all steps of a program that ignore it, and adds their kernels. */
static void
take_tick (LigProgram *program, GHashTable *seen)
{
  for (int i = 0; i < program->run->n_steps; i++) {
    const LigKernel *kernel = lig_plan_step (program->plan, i)->kernel;
    if (!lig_kernel_ignores_tick (kernel))
      continue;
    program->run->steps[i].launch.tick = NULL;
    g_hash_table_add (seen, (gpointer) kernel->name);
  }
}

/* Runs both passes and the update without the tick. */
static void
run_steps_without_tick (const char *expression, const char *input, GHashTable *seen)
{
  static const char *const forced[] = {"joint-linear-cross-entropy", NULL};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.optimizer = &optimizer;
  options.policy = LIG_POLICY_ALL;
  options.training = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  if (strstr (expression, "cross-entropy"))
    lig_op_set_forced (lig_sequence_get (sequence, 0, NULL), forced);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  take_tick (program, seen);
  feed_inputs (program);
  feed_gradients (program);
  lig_program_set_rate (program, 0.05, 0);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
}

/* Runs an evaluation without the tick. */
static void
evaluate_without_tick (const char *expression, const char *input, GHashTable *seen)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  take_tick (program, seen);
  feed_inputs (program);
  run_program (program, LIG_RUN_FORWARD);
}

/* Runs a plan with a cache without the tick. */
static void
extend_without_tick (GHashTable *seen)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  const gint32 tokens[2] = {1, 3};
  const LigCacheStep step = {0, tokens};
  options.training = FALSE;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence = new_sequence (
    "embedding(24, vocabulary=4) ! position-embedding(8) ! rotary(2) ! attention(2, sinks=true)",
    "1x8:int32");
  g_autoptr (LigState) state = new_state (sequence, &options);
  options.cache = (LigCacheShape){.rows = 1, .step = 2, .length = 8, .slots = 1};
  g_autoptr (LigPlan) plan =
    lig_plan_compile (sequence, lig_state_get_device (state), &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigCache) cache = lig_cache_new (plan, &error);
  g_autoptr (LigProgram) program = lig_program_new_cached (plan, state, cache, &error);
  g_assert_no_error (error);
  take_tick (program, seen);
  g_assert_true (lig_cache_extend (cache, program, &step, 1, &error));
}

/* Runs the kernels of vocabulary parallelism, which a plan of one rank lacks. */
static void
run_parts_without_tick (GHashTable *seen)
{
  float x[] = {1, 2, 3, 4, 5, 6}, part[8] = {0}, results[2];
  int32_t targets[] = {2, 0};
  const LigCrossEntropyParams params = {.ignored = -100, .part = {0, 3}};
  const LigOperand logits = {x, 6, 3, LIG_FP32}, rows = {targets, 2, 2, LIG_INT32};
  const LigOperand numbers[] = {{&results[0], 1, 1, LIG_FP32}, {&results[1], 1, 1, LIG_FP32}};
  const LigOperand of_loss = {part, 8, 4, LIG_FP32}, of_hits = {part, 6, 3, LIG_FP32};
  const LigOperand none = {NULL, 2, 1, LIG_FP32};
  const struct {
    const char *kernel;
    LigOperand operands[5];
  } cases[] = {{"cross_entropy_part", {logits, rows, of_loss}},
               {"cross_entropy_join", {of_loss, rows, numbers[0], none, numbers[1]}},
               {"accuracy_part", {logits, rows, of_hits}},
               {"accuracy_join", {of_hits, rows, numbers[0], numbers[1]}}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const LigKernel *kernel = lig_kernel_find (cases[i].kernel);
    LigLaunch launch = {.operands = cases[i].operands, .params = &params};
    g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
    g_hash_table_add (seen, (gpointer) kernel->name);
  }
  g_assert_cmpfloat (results[0], ==, 1);
  g_assert_cmpfloat (results[1], ==, 2);
}

/* Runs the kernels of context parallelism. */
static void
run_slices_without_tick (GHashTable *seen)
{
  float x[] = {1, 2, 3, 4}, y[4] = {0}, lse[4] = {0}, part[] = {5, 6};
  const LigSliceParams slice = {2, 1, 1, 0};
  const LigMergeParams merge = {1, 2, 2, 1, 1};
  const LigOperand whole = {x, 4, 2, LIG_FP32}, result = {y, 4, 2, LIG_FP32};
  const LigOperand sums = {lse, 4, 2, LIG_FP32}, some = {part, 2, 2, LIG_FP32};
  const LigOperand one = {lse, 2, 1, LIG_FP32};
  const struct {
    const char *kernel;
    const void *params;
    LigOperand operands[6];
    float last; /* element of y */
  } cases[] = {{"slice", &slice, {whole, {y + 2, 2, 2, LIG_FP32}}, 4},
               {"add_slice", &slice, {whole, some, result}, 10},
               {"add_parts", NULL, {{x, 4, 2, LIG_FP32}, {y + 2, 2, 2, LIG_FP32}}, 6},
               {"attention_merge", &merge, {whole, sums, some, one, result, sums}, 5}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const LigKernel *kernel = lig_kernel_find (cases[i].kernel);
    LigLaunch launch = {.operands = cases[i].operands, .params = cases[i].params};
    g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
    g_assert_cmpfloat (y[3], ==, cases[i].last);
    g_hash_table_add (seen, (gpointer) kernel->name);
  }
}

/* Draws tokens, which programs for generating do next to their plans. */
static void
draw_without_tick (GHashTable *seen)
{
  const LigSampling sampling = LIG_SAMPLING_INIT;
  const float logits[] = {-INFINITY, 3, -INFINITY};
  LigSampled sampled;
  lig_sampling_draw (&sampling, logits, G_N_ELEMENTS (logits), NULL, 0, &sampled);
  g_assert_cmpint (sampled.chosen.token, ==, 1);
  g_hash_table_add (seen, (gpointer) "sample");
}

/* Kernels with operands that depend on their params run in plans. */
static void
test_shaped (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  run_steps_without_tick ("embedding(16, vocabulary=4) ! position-embedding(8) ! layer-norm",
                          "2x6:int32", seen);
  run_steps_without_tick ("position-embedding(8) ! rotary(2) ! qk-norm(2)", "2x6x24", seen);
  run_steps_without_tick ("linear(12) ! split-heads(1, first=a, second=b) ! "
                          "arrange-halves(second=c) ! load-branch(b) ! join-halves(a) ! "
                          "make-extra-output(d) ! load-branch(c) ! linear(4) ! add-extra-input(d)",
                          "2x6x12", seen);
  run_steps_without_tick ("attention(2, sinks=true)", "2x6x24", seen);
  run_steps_without_tick ("linear(5) ! cross-entropy", "6x8", seen);
  run_steps_without_tick ("linear(16, recipe=fp8-delayed) ! layer-norm ! linear(16)", "32x16",
                          seen);
  run_steps_without_tick ("linear(32, recipe=fp8-block) ! gelu ! linear(64, recipe=fp8-rows) ! "
                          "swiglu ! linear(16, recipe=fp8-block)",
                          "32x16", seen);
  run_steps_without_tick (
    "rms-norm ! linear(16, recipe=fp8-delayed) ! linear(32, recipe=fp8-current)", "32x16", seen);
  run_steps_without_tick ("mixture-of-experts(4, expert-features=32, interleave=32)", "32x16",
                          seen);
  run_steps_without_tick ("mixture-of-experts(4, activation=clamped-swiglu, bias=true) ! "
                          "mixture-of-experts(4, activation=srelu) ! "
                          "mixture-of-experts(4, activation=situ-glu) ! "
                          "mixture-of-experts(4, score=sigmoid, balance=0.1, shared-features=8, "
                          "shared-gate=true)",
                          "6x8", seen);
  run_steps_without_tick (
    "block(recipe=fp8-block) { mixture-of-experts(4, expert-features=16, activation=srelu) }",
    "6x16", seen);
  run_steps_without_tick ("linear(8) ! dispatch(scales=caller, sent=s, received=r, own-scales=o) ! "
                          "scaled-swiglu(scales=o) ! combine(sent=s, received=r)",
                          "6x8", seen);
  evaluate_without_tick ("row-offsets", "4:int32", seen);
  evaluate_without_tick ("linear(16, recipe=fp8-delayed) ! gelu ! linear(16, recipe=fp8-delayed)",
                         "32x16", seen);
  extend_without_tick (seen);
  run_parts_without_tick (seen);
  run_slices_without_tick (seen);
  draw_without_tick (seen);
  const LigKernel *kernel;
  for (int i = 0; (kernel = lig_kernel_nth (i)); i++)
    if (is_shaped (kernel->name) && lig_kernel_ignores_tick (kernel) &&
        !g_hash_table_contains (seen, kernel->name))
      g_error ("%s ignores the tick, but no sequence of this test runs it", kernel->name);
}

/* Returns whether two forward passes of one program give different outputs. */
static gboolean
draws (const char *expression, const char *input, LigTick *sent)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) outputs =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  for (int i = 0; i < 2; i++) {
    feed_inputs (program);
    run_program (program, LIG_RUN_FORWARD);
    g_ptr_array_add (outputs, lig_program_read_output (program, &error));
    g_assert_no_error (error);
  }
  *sent = program->sent;
  return distance_between (outputs->pdata[0], outputs->pdata[1]) > 0;
}

static void
test_drawing (void)
{
  LigTick sent;
  g_assert_true (draws ("dropout(0.5)", "64x8", &sent));
  g_assert_true (draws ("drop-path(0.5)", "64x8", &sent));
  g_assert_true (draws ("attention(2, dropout=0.5)", "4x16x24", &sent));
  g_assert_cmpuint (sent.micro_step, >, 0);
  /* Without a reader, the device's tick does not change. */
  g_assert_false (draws ("gelu ! layer-norm", "64x8", &sent));
  g_assert_cmpuint (sent.micro_step, ==, 0);
  /* A kernel of another program may read it, and so may one compiled before the field existed. */
  LigKernel other = {.size = G_STRUCT_OFFSET (LigKernel, ignores_tick), .ignores_tick = true};
  g_assert_false (lig_kernel_ignores_tick (&other));
}

/* Returns the scratch memory of attention's backward pass on a described GPU. */
static gint64
scratch_of (const char *expression, const char *input, gboolean nondeterministic)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  guint count;
  options.input_gradient = TRUE;
  options.nondeterministic = nondeterministic;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if (strstr (values[i].name, "attention_backward.scratch"))
      return values[i].bytes;
  return 0;
}

static void
test_orders (void)
{
  const LigAttentionParams gpt2 = {
    .heads = 12, .kv_heads = 12, .features = 64, .length = 1024, .memory_length = 1024};
  gint64 any_order = scratch_of ("attention(12)", "64x1024x2304:bf16", TRUE);
  gint64 ordered = scratch_of ("attention(12)", "64x1024x2304:bf16", FALSE);
  g_assert_cmpint (ordered, ==, lig_attention_scratch (64, &gpt2, false));
  g_assert_cmpint (any_order, ==, lig_attention_scratch (64, &gpt2, true));
  g_assert_cmpint (ordered - any_order, >, 1400000000);
  /* Without cuDNN, the built-in kernel needs four numbers per query and head, which fit in the
   * workspace if they are few. */
  gint64 own = scratch_of ("attention(12, dropout=0.1)", "512x1024x2304:bf16", FALSE);
  g_assert_cmpint (own, ==, LIG_ATTENTION_OWN * G_GINT64_CONSTANT (512) * 1024 * 12);
  g_assert_cmpint (scratch_of ("attention(12, dropout=0.1)", "32x1024x2304:bf16", FALSE), ==, 0);
  g_assert_cmpint (scratch_of ("attention(12)", "64x1024x2304:fp32", FALSE), ==, 0);
  /* Above the memory limit for a fixed order, it is that of a part; if a single head needs more,
   * that of the built-in kernel. */
  gint64 part = scratch_of ("attention(12)", "4x16384x2304:bf16", FALSE);
  g_assert_cmpint (part, >, 1 << 30);
  g_assert_cmpint (part, <=, LIG_ATTENTION_MAX_ORDERED);
  own = scratch_of ("attention(1, dropout=0.1)", "1x65536x192:bf16", FALSE);
  g_assert_cmpint (scratch_of ("attention(1)", "1x65536x192:bf16", FALSE), ==, own);
  g_assert_cmpint (scratch_of ("attention(1)", "1x65536x192:bf16", TRUE), >, own);
}

typedef struct {
  int64_t rows, columns;
} Part;

static int64_t
padded_scratch (const char *name, Part a, Part b, LigBackendKind backend)
{
  LigOperand operands[] = {{NULL, a.rows * a.columns, a.columns, LIG_BF16},
                           {NULL, b.rows * b.columns, b.columns, LIG_BF16}};
  LigLaunch launch = {.operands = operands};
  return lig_kernel_scratch (lig_kernel_find (name), &launch, backend);
}

/* GPUs copy the matrices of large matmuls if their rows are not aligned to 16 bytes. */
static void
test_padded (void)
{
  const Part x = {65536, 768}, weight = {50257, 768}, y = {65536, 50257}, aligned = {50264, 768};
  const int64_t max = (int64_t) 256 << 20, row = 50304 * 2;
  for (LigBackendKind i = LIG_BACKEND_CUDA; i <= LIG_BACKEND_NULL; i++) {
    g_assert_cmpint (padded_scratch ("linear", x, weight, i), ==, max / row / 128 * 128 * row);
    g_assert_cmpint (padded_scratch ("linear_backward_input", y, weight, i), >, max / 2);
    g_assert_cmpint (padded_scratch ("linear_backward_weight", y, x, i), ==, max);
    g_assert_cmpint (padded_scratch ("linear_backward_weight_bias", y, x, i), ==, max);
    g_assert_cmpint (padded_scratch ("linear", x, aligned, i), ==, 0);
    g_assert_cmpint (padded_scratch ("linear", (Part){16, 768}, weight, i), ==, 0);
    g_assert_cmpint (padded_scratch ("linear", (Part){65536, 767}, (Part){50257, 767}, i), ==, 0);
  }
  g_assert_cmpint (padded_scratch ("linear", x, weight, LIG_BACKEND_CPU), ==, 0);
  g_assert_cmpint (lig_joint_stride (50257, LIG_BF16, LIG_BACKEND_CPU), ==, 50257);
  g_assert_cmpint (lig_joint_stride (50257, LIG_BF16, LIG_BACKEND_CUDA), ==, 50304);
  g_assert_cmpint (lig_joint_stride (50264, LIG_BF16, LIG_BACKEND_CUDA), ==, 50264);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/demands/tick/plain", test_plain);
  g_test_add_func ("/demands/tick/shaped", test_shaped);
  g_test_add_func ("/demands/tick/drawing", test_drawing);
  g_test_add_func ("/demands/scratch/orders", test_orders);
  g_test_add_func ("/demands/scratch/padded", test_padded);
  return g_test_run ();
}
