/* SPDX-License-Identifier: MIT */
/* Plans on the GPU against the CPU's: every op, every variant of every fusion, all policies and
 * types; poisoned memory, replays, repeated runs, training with evaluations in between,
 * callbacks between two graphs, and memory that runs out. */
#include "engine/program/private.h"
#include "tests/gpu/plan-case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/plan-memory.h>
#include <ligature/register.h>
#include <ligature/units.h>

/* --- Ops and fusions ----------------------------------------------------------------------- */

static void
test_op (gconstpointer data)
{
  const LigOpInfo *info = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  g_auto (GStrv) parts = g_strsplit (info->example, " @ ", 2);
  g_autoptr (LigSequence) sequence = new_sequence (parts[0], parts[1]);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    for (int training = 0; training < 2; training++)
      expect_agreement (gpu, sequence, types[i], training, FALSE, info->example);
}

/* Widths that allow no 16-byte access, and widths that suit the matmuls. */
static const struct {
  const char *input;
  int features;
} sizes[] = {{"5x8", 6}, {"48x64", 40}};

static void
check_variant (const Gpu *gpu, const LigFusion *fusion, const char *const *ops)
{
  for (guint s = quick () ? 1 : 0; s < G_N_ELEMENTS (sizes); s++) {
    g_autofree char *expression = join_ops (ops, sizes[s].features);
    /* A table is indexed by row numbers. */
    const char *type = g_str_equal (ops[0], "embedding") ? ":int32" : "";
    g_autofree char *input = g_strconcat (sizes[s].input, type, NULL);
    g_autofree char *what = g_strdup_printf ("%s on %s @ %s", fusion->name, expression, input);
    g_autoptr (LigSequence) plain = variant_sequence (expression, input);
    g_autoptr (LigSequence) forced = variant_sequence (expression, input);
    force (forced, "0", fusion->name);
    for (guint i = 0; i < G_N_ELEMENTS (types); i++)
      for (int training = fusion->pass != LIG_PASS_FORWARD; training < 2; training++) {
        LigPlanOptions options = options_for (LIG_POLICY_NONE, training, types[i]);
        g_autoptr (Results) want = compute_on (cpu_device (), plain, &options, 1);
        g_autoptr (Results) got = compute_on (gpu->device, forced, &options, 1);
        expect_close (got, want, tolerance_of (what, types[i][0]), what);
        /* The other types differ only in the kernels, which were just compared. */
        if (training && s == 1 && (i == 0 || i == 2) && !quick ())
          expect_agreement (gpu, plain, types[i], TRUE, FALSE, what);
      }
  }
}

static void
test_fusion (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  g_autoptr (GPtrArray) ops = g_ptr_array_new ();
  if (gpu)
    each_choice (gpu, data, 0, ops, check_variant);
}

/* --- Whole sequences ----------------------------------------------------------------------- */

static const struct {
  const char *expression, *input;
} wholes[] = {
  {"layer-norm ! linear(48) ! gelu ! linear(24)", "33x24"},
  {"make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(32) ! add-extra-input(from=r)"
   " ! rms-norm ! linear(64) ! swiglu ! linear(16)",
   "2x64x32"},
  {"linear(8) ! make-extra-output(a) ! bias ! relu ! add-extra-input(a) ! make-extra-output(b) ! "
   "rms-norm ! basic-linear(8) ! constant-scale(-2.5) ! add-extra-input(b) ! l2-normalization",
   "2x5x8"},
  {"block(3) { make-extra-output(to=r) ! rms-norm ! linear(12) ! silu ! linear(8) ! dropout(0.25) "
   "! add-extra-input(from=r) } ! mean-squared-error",
   "2x5x8"},
  {"embedding(24, vocabulary=40) ! layer-norm ! linear(40) ! cross-entropy", "8x33:int32"},
  {"linear(258) ! clamped-swiglu ! linear(31) ! cross-entropy(label-smoothing=0.1)", "17x31"},
};

static LigSequence *
whole_sequence (guint index)
{
  return new_sequence (wholes[index].expression, wholes[index].input);
}

static void
test_wholes (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; i < G_N_ELEMENTS (wholes) && gpu; i++) {
    g_autoptr (LigSequence) sequence = whole_sequence (i);
    for (guint j = 0; j < G_N_ELEMENTS (types); j++)
      for (int training = 0; training < 2; training++)
        expect_agreement (gpu, sequence, types[j], training, TRUE, wholes[i].expression);
  }
}

/* In evaluation a matmul writes the quantized copy of gelu: the GPU's bytes may be adjacent to the
 * CPU's, an eighth apart. */
static void
test_gelu_matmuls (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (guint j = 0; j < G_N_ELEMENTS (types) && gpu; j++) {
    LigPlanOptions options = options_for (LIG_POLICY_ALL, FALSE, types[j]);
    g_autoptr (LigSequence) sequence =
      new_sequence ("layer-norm ! linear(64) ! gelu ! linear(32)", "48x32");
    options.recipe = "fp8-delayed";
    g_autoptr (Results) want = compute_on (cpu_device (), sequence, &options, 1);
    g_autoptr (Results) got = compute_on (gpu->device, sequence, &options, 1);
    compare_results (got, want, 0.25, "gelu in the matmul");
  }
}

static void
test_accumulate (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; i < G_N_ELEMENTS (wholes) && gpu; i++)
    for (guint j = 0; j < G_N_ELEMENTS (types); j++) {
      g_autoptr (LigSequence) sequence = whole_sequence (i);
      LigPlanOptions options = options_for (LIG_POLICY_NONE, TRUE, types[j]);
      options.accumulate = TRUE;
      g_autoptr (Results) want = compute_on (cpu_device (), sequence, &options, 3);
      g_autoptr (Results) reference = fp32_results (sequence, &options, 3);
      options.policy = LIG_POLICY_ALL;
      g_autoptr (Results) got = compute_on (gpu->device, sequence, &options, 3);
      expect_close_to (got, want, reference, plan_tolerance (types[j][0]), wholes[i].expression);
    }
}

/* Compares two states and plans of one sequence, one of them with poisoned memory. */
static void
test_same_bits (void)
{
  const Gpu *gpu = gpu_or_skip ();
  g_autofree char *before = g_strdup (g_getenv ("LIGATURE_POISON"));
  for (guint i = 0; i < G_N_ELEMENTS (wholes) && gpu; i++)
    for (guint j = 0; j < G_N_ELEMENTS (types); j++) {
      g_autoptr (LigSequence) sequence = whole_sequence (i);
      LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[j]);
      g_setenv ("LIGATURE_POISON", "1", TRUE);
      g_autoptr (Results) first = compute_on (gpu->device, sequence, &options, 1);
      g_autoptr (Results) second = compute_on (gpu->device, sequence, &options, 1);
      g_unsetenv ("LIGATURE_POISON");
      g_autoptr (Results) third = compute_on (gpu->device, sequence, &options, 1);
      expect_same_bits (second, first, "a second time");
      expect_same_bits (third, first, "without poison");
    }
  if (before)
    g_setenv ("LIGATURE_POISON", before, TRUE);
}

/* --- Running more than once ---------------------------------------------------------------- */

static void
feed_named (LigProgram *program, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_program_get_plan (program), &shape, &dtype);
  g_autoptr (LigTensor) input = named_tensor (name, dtype, &shape, 2);
  lig_program_set_input (program, input, &error);
  g_assert_no_error (error);
}

/* A graph is captured once, and its results follow its input. */
static void
test_replay (void)
{
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; i < G_N_ELEMENTS (wholes) && gpu; i++) {
    g_autoptr (LigSequence) sequence = whole_sequence (i);
    LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[0]);
    LigDevice *devices[] = {cpu_device (), gpu->device};
    g_autoptr (LigState) cpu = state_on (devices[0], sequence, &options);
    g_autoptr (LigState) state = state_on (devices[1], sequence, &options);
    g_autoptr (LigProgram) ours = new_program (cpu, sequence, &options);
    g_autoptr (LigProgram) theirs = new_program (state, sequence, &options);
    LigProgram *programs[] = {ours, theirs};
    for (int d = 0; d < 2; d++)
      feed_inputs (programs[d]);
    for (int n = 0; n < (quick () ? 3 : 30); n++) {
      g_autofree char *name = g_strdup_printf ("input %d", n % 7);
      Results *results[2];
      for (int d = 0; d < 2; d++) {
        feed_named (programs[d], name);
        feed_gradients (programs[d]);
        run_program (programs[d], LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
        results[d] = read_results (programs[d], TRUE);
      }
      expect_close (results[1], results[0], plan_tolerance (LIG_FP32), name);
      results_free (results[0]);
      results_free (results[1]);
    }
  }
}

/* A capture that a launch ends early leaves no graph: the next run captures all steps. */
static LigStatus
fail (LigLaunch *launch)
{
  return LIG_FAILED;
}

static void
test_failed_capture (void)
{
  const Gpu *gpu = gpu_or_skip ();
  g_autoptr (GError) error = NULL;
  if (!gpu)
    return;
  LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[0]);
  g_autoptr (LigSequence) sequence = whole_sequence (0);
  g_autoptr (Results) want = compute_on (gpu->device, sequence, &options, 1);
  g_autoptr (LigState) state = state_on (gpu->device, sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  const unsigned passes = LIG_RUN_FORWARD | LIG_RUN_BACKWARD;
  LigStep *step = &program->run->steps[program->run->n_steps / 2];
  LigKernelFunc function = step->function;
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, passes);
  step->function = fail;
  for (int i = 0; i < 2; i++) {
    g_assert_false (lig_program_run (program, passes, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
    g_clear_error (&error);
  }
  step->function = function;
  for (int i = 0; i < 3; i++) {
    feed_gradients (program);
    run_program (program, passes);
    g_autoptr (Results) got = read_results (program, TRUE);
    expect_same_bits (got, want, "after a capture that failed");
  }
}

/* Trains on one device with evaluations in between. Returns the outputs of the evaluations and the
 * final parameters. */
static Results *
alternate (LigDevice *device, LigSequence *sequence, const LigDtype *pair)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions training = options_for (LIG_POLICY_ALL, TRUE, pair);
  LigPlanOptions evaluation = options_for (LIG_POLICY_ALL, FALSE, pair);
  training.optimizer = &optimizer;
  g_autoptr (LigState) state = state_on (device, sequence, &training);
  g_autoptr (LigProgram) train = new_program (state, sequence, &training);
  g_autoptr (LigProgram) evaluate = new_program (state, sequence, &evaluation);
  Results *results = g_new0 (Results, 1);
  results->names = g_ptr_array_new_with_free_func (g_free);
  results->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  feed_inputs (train);
  feed_inputs (evaluate);
  for (int round = 0; round < 3; round++) {
    lig_program_set_rate (train, 0.01, round == 1 ? 0.5 : 0);
    for (int step = 0; step < 4; step++)
      run_program (train, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
    run_program (evaluate, LIG_RUN_FORWARD);
    results_take (results, g_strdup_printf ("output %d", round),
                  lig_program_read_output (evaluate, &error));
    g_assert_no_error (error);
  }
  g_assert_cmpuint (lig_state_get_step (state), ==, 12);
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    results_take (results, g_strdup (*path),
                  lig_state_get (state, LIG_STATE_PARAMETERS, *path, &error));
  return results;
}

/* AdamW divides by numbers near 0, which magnifies the difference of the devices. */
static void
test_alternate (void)
{
  static const double limits[] = {[LIG_FP32] = 1e-3, [LIG_FP16] = 2e-2, [LIG_BF16] = 6e-2};
  const Gpu *gpu = gpu_or_skip ();
  for (guint j = 0; j < G_N_ELEMENTS (types) && gpu; j++) {
    g_autoptr (LigSequence) sequence = new_sequence (
      "layer-norm ! linear(24) ! gelu ! dropout(0.2) ! linear(5) ! cross-entropy", "16x12");
    g_autoptr (Results) want = alternate (cpu_device (), sequence, types[j]);
    g_autoptr (Results) got = alternate (gpu->device, sequence, types[j]);
    g_autoptr (Results) again = alternate (gpu->device, sequence, types[j]);
    expect_close (got, want, limits[types[j][0]], lig_dtype_name (types[j][0]));
    expect_same_bits (again, got, "trained and evaluated again");
  }
}

/* --- Matmuls in TF32 ---------------------------------------------------------------------- */

static void
test_tf32 (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(256) ! gelu ! linear(128) ! relu ! linear(64)", "256x192");
  LigPlanOptions options = options_for (LIG_POLICY_NONE, TRUE, types[0]);
  g_autoptr (Results) want = compute_on (cpu_device (), sequence, &options, 1);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) exact = compute_on (gpu->device, sequence, &options, 1);
  options.tf32 = TRUE;
  g_autoptr (Results) rounded = compute_on (gpu->device, sequence, &options, 1);
  expect_close (exact, want, 1e-5, "fp32");
  expect_close (rounded, want, 1e-2, "tf32");
  if (exact && rounded)
    g_assert_cmpfloat (distance_between (rounded->tensors->pdata[0], exact->tensors->pdata[0]), >,
                       0);
}

/* --- Callbacks ----------------------------------------------------------------------------- */

/* Triples values of the device through the host, in the order of the plan's stream. */
static void
triple_on (const LigOperand *from, const LigOperand *to, void *stream)
{
  const char *reason;
  const Gpu *gpu = gpu_open (&reason);
  size_t count = (size_t) from->size, bytes = count * lig_dtype_size (from->dtype);
  g_autofree char *bits = g_malloc (bytes);
  g_autofree float *values = g_new (float, count);
  gpu_check (gpu, gpu->calls->copy (gpu->handle, bits, from->data, bytes, stream), "download");
  gpu_check (gpu, gpu->calls->wait (gpu->handle, stream), "download");
  lig_widen (from->dtype, bits, values, count);
  for (size_t i = 0; i < count; i++)
    values[i] *= 3;
  lig_narrow (to->dtype, values, bits, count);
  gpu_check (gpu, gpu->calls->copy (gpu->handle, to->data, bits, bytes, stream), "upload");
  gpu_check (gpu, gpu->calls->wait (gpu->handle, stream), "upload");
}

static int calls;

static gboolean
triple (const LigOpaqueCall *call, GError **error)
{
  triple_on (&call->operands[0], &call->operands[1], call->stream);
  calls++;
  return TRUE;
}

static gboolean
triple_backward (const LigOpaqueCall *call, GError **error)
{
  triple_on (&call->operands[0], &call->operands[3], call->stream);
  calls++;
  return TRUE;
}

static const LigOpInfo gpu_triple = {LIG_OP_INFO_SIZES,
                                     .name = "gpu-triple",
                                     .example = "gpu-triple @ 4x8",
                                     .title = "Triple",
                                     .category = "Other",
                                     .summary = "Three times its input",
                                     .opaque_forward = triple,
                                     .opaque_backward = triple_backward};

static void
test_opaque (void)
{
  g_autoptr (GError) error = NULL;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  g_assert_true (lig_register_op (&gpu_triple, &error));
  for (guint j = 0; j < G_N_ELEMENTS (types); j++)
    for (int policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      g_autoptr (LigSequence) opaque =
        new_sequence ("linear(8) ! gpu-triple ! gelu ! linear(8)", "5x11");
      g_autoptr (LigSequence) plain =
        new_sequence ("linear(8) ! constant-scale(3) ! gelu ! linear(8)", "5x11");
      LigPlanOptions options = options_for (LIG_POLICY_NONE, TRUE, types[j]);
      options.accumulate = TRUE;
      g_autoptr (Results) want = compute_on (cpu_device (), plain, &options, 3);
      options.policy = (LigPolicy) policy;
      calls = 0;
      g_autoptr (Results) got = compute_on (gpu->device, opaque, &options, 3);
      expect_close (got, want, plan_tolerance (types[j][0]), "opaque");
      g_assert_cmpint (calls, ==, 6);
    }
}

/* --- Plans that are rejected ---------------------------------------------------------------- */

static void
test_no_features (void)
{
  const Gpu *gpu = gpu_or_skip ();
  LigShape shape;
  if (!gpu)
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4) ! gelu", "2x8");
  lig_shape_init (&shape, 2, (gint64) 8, (gint64) 0);
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[0]);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, gpu->device, &options, &error);
  g_assert_null (plan);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
}

/* A plan that needs more memory than the device has is rejected with both numbers, and the device
 * continues to work. */
static void
test_memory (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[2]);
  g_autoptr (LigSequence) sequence = new_sequence ("rms-norm ! linear(8192) ! gelu", "2x8192");
  lig_shape_init (&shape, 2, lig_device_get_facts (gpu->device)->memory / 8192, (gint64) 8192);
  lig_sequence_set_input (sequence, &shape, LIG_BF16);
  g_autoptr (LigPlan) compiled = lig_plan_compile (sequence, gpu->device, &options, &error);
  g_assert_no_error (error);
  LigPlanMemory memory;
  lig_plan_get_memory (compiled, NULL, &memory);
  g_autofree char *needed = lig_units_bytes (memory.needed);
  g_autofree char *available = lig_units_bytes (memory.available);
  g_autoptr (LigState) state = lig_state_new (sequence, gpu->device, &options, 0, &error);
  g_assert_no_error (error);
  for (int i = 0; i < 3; i++) {
    g_clear_error (&error);
    g_assert_null (lig_program_new (compiled, state, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_MEMORY);
  }
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, needed));
  g_assert_nonnull (strstr (error->message, available));
  g_assert_nonnull (strstr (error->message, "largest"));
  g_autoptr (LigSequence) small = whole_sequence (0);
  expect_agreement (gpu, small, types[2], TRUE, TRUE, "after memory ran out");
}

/* Every step takes some time, and less than a second. */
static void
test_times (void)
{
  const Gpu *gpu = gpu_or_skip ();
  g_autoptr (GError) error = NULL;
  guint count;
  if (!gpu)
    return;
  LigPlanOptions options = options_for (LIG_POLICY_ALL, TRUE, types[2]);
  g_autoptr (LigSequence) sequence = whole_sequence (1);
  g_autoptr (LigState) state = state_on (gpu->device, sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  lig_plan_get_steps (lig_program_get_plan (program), &count);
  g_autofree double *seconds = g_new0 (double, count);
  g_assert_true (lig_program_time_steps (program, seconds, &error));
  for (guint i = 0; i < count; i++) {
    g_assert_cmpfloat (seconds[i], >, 0);
    g_assert_cmpfloat (seconds[i], <, 1);
  }
}

/* Tensors without elements can be launched, captured, replayed and accumulated. The gradient of
 * the input has the input's type. */
static void
test_empty (void)
{
  static const char *const expressions[] = {
    "layer-norm ! linear(32) ! gelu ! linear(16)",
    "make-extra-output(to=r) ! rms-norm ! linear(64) ! swiglu ! linear(64) ! "
    "add-extra-input(from=r)",
    "linear(10) ! cross-entropy",
    "linear(8) ! mean-squared-error",
    "gelu ! dropout",
  };
  const Gpu *gpu = gpu_or_skip ();
  for (guint n = 0; gpu && n < 2 * G_N_ELEMENTS (expressions); n++)
    for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
      g_autoptr (LigSequence) sequence =
        new_sequence (expressions[n / 2], n % 2 ? "24x64" : "0x64");
      LigPlanOptions options = options_for (LIG_POLICY_MEASURED, TRUE, types[i]);
      options.accumulate = TRUE;
      g_autoptr (Results) got = compute_on (gpu->device, sequence, &options, 4);
      g_autoptr (Results) want = compute_on (cpu_device (), sequence, &options, 4);
      g_autoptr (Results) reference = fp32_results (sequence, &options, 4);
      expect_close_to (got, want, reference, plan_tolerance (types[i][0]), expressions[n / 2]);
      g_assert_cmpint ((int) results_find (got, "grad.input")->dtype, ==, LIG_FP32);
    }
}

int
main (int argc, char **argv)
{
  const LigOpInfo *info;
  const LigFusion *fusion;
  gpu_test_init (argc, argv);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autofree char *path = g_strconcat ("/gpu/plans/op/", info->name, NULL);
    g_test_add_data_func (path, info, test_op);
  }
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++) {
    /* With one GPU there are no collectives; grouped-gated.c tests grouped matmuls, and
     * test_gelu_matmuls() the last one. */
    if (strstr (fusion->pattern, "all-gather") || strstr (fusion->pattern, "all-reduce") ||
        strstr (fusion->pattern, "reduce-scatter") || strstr (fusion->pattern, "grouped-linear") ||
        g_str_equal (fusion->name, "forward-linear-bias-gelu-quantize"))
      continue;
    g_autofree char *path = g_strconcat ("/gpu/plans/fusion/", fusion->name, NULL);
    g_test_add_data_func (path, fusion, test_fusion);
  }
  g_test_add_func ("/gpu/plans/wholes", test_wholes);
  g_test_add_func ("/gpu/plans/gelu-matmuls", test_gelu_matmuls);
  g_test_add_func ("/gpu/plans/accumulate", test_accumulate);
  g_test_add_func ("/gpu/plans/same-bits", test_same_bits);
  g_test_add_func ("/gpu/plans/replay", test_replay);
  g_test_add_func ("/gpu/plans/failed-capture", test_failed_capture);
  g_test_add_func ("/gpu/plans/alternate", test_alternate);
  g_test_add_func ("/gpu/plans/tf32", test_tf32);
  g_test_add_func ("/gpu/plans/no-features", test_no_features);
  g_test_add_func ("/gpu/plans/empty", test_empty);
  g_test_add_func ("/gpu/plans/memory", test_memory);
  g_test_add_func ("/gpu/plans/times", test_times);
  /* This test is the last: the op that it registers has no example for the others. */
  g_test_add_func ("/gpu/plans/opaque", test_opaque);
  return g_test_run ();
}
