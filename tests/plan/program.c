/* SPDX-License-Identifier: MIT */
/* Tests plans and programs: lifetimes, the effects of edits, the order of calls, and the effects of
 * a run on the state. */
#include "engine/program/private.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/profile.h>
#include <ligature/report.h>

#include <json-glib/json-glib.h>

#define NET "linear(8) ! gelu ! dropout(0.1) ! linear(3) ! mean-squared-error"

static LigPlanOptions
options_of (const LigOptimizer *optimizer)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = optimizer;
  return options;
}

static char *
json_of (LigPlan *plan)
{
  g_autoptr (JsonNode) root = lig_plan_to_json (plan);
  return json_to_string (root, FALSE);
}

static void
expect_error (gboolean done, GError **error, int code, const char *message)
{
  g_assert_false (done);
  g_assert_error (*error, LIG_ERROR, code);
  g_assert_cmpstr ((*error)->message, ==, message);
  g_clear_error (error);
}

/* A program keeps references to everything that it needs; a plan needs neither the sequence nor a
 * state. */
static void
test_outlives (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer *optimizer = g_new0 (LigOptimizer, 1);
  *optimizer = (LigOptimizer) LIG_OPTIMIZER_INIT;
  LigPlanOptions options = options_of (optimizer);
  char *choices = g_strdup ("");
  options.choices = choices;
  LigSequence *sequence = new_sequence (NET, "4x8");
  LigDevice *device = lig_device_open ("cpu", &error);
  LigState *state = lig_state_new (sequence, device, &options, 7, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, &error);
  g_assert_no_error (error);
  g_autofree char *before = json_of (plan);
  LigProgram *program = lig_program_new (plan, state, &error);
  g_assert_no_error (error);
  memset (optimizer, 0xff, sizeof *optimizer);
  g_free (optimizer);
  g_free (choices);
  g_object_unref (sequence);
  g_object_unref (state);
  g_object_unref (device);
  feed_inputs (program);
  lig_program_set_rate (program, 0.01, 0);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
  g_assert_true (isfinite (read_loss (program)));
  g_assert_cmpuint (lig_state_get_step (lig_program_get_state (program)), ==, 1);
  lig_program_unref (program);
  g_autofree char *after = json_of (plan);
  g_assert_cmpstr (before, ==, after);
}

/* No output of a plan, in any format, changes when the sequence is edited. */
static void
test_edit (void)
{
  static const char *const formats[] = {"json", "html", "md", "svg"};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(8) ! block(2) { dropout(0.1) ! linear(8) } ! gelu", "2x4");
  LigPlanOptions options = options_of (NULL);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_autofree char *before = json_of (plan);
  g_autofree char *text = lig_plan_to_text (plan);
  GBytes *reports[G_N_ELEMENTS (formats)];
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    reports[i] = lig_report_plan (plan, NULL, formats[i], &error);
  g_assert_no_error (error);
  g_object_set (lig_sequence_get (sequence, 0, NULL), "out-features", (gint64) 99, NULL);
  g_object_set (lig_sequence_find (sequence, "1.0.0", NULL), "p", 0.5, NULL);
  lig_op_set_fence (lig_sequence_get (sequence, 2, NULL), TRUE);
  lig_sequence_set_name (sequence, "edited");
  g_assert_true (lig_sequence_remove (sequence, 1, &error));
  g_autofree char *after = json_of (plan);
  g_autofree char *again = lig_plan_to_text (plan);
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpstr (again, ==, text);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GBytes) report = lig_report_plan (plan, NULL, formats[i], &error);
    g_assert_no_error (error);
    g_assert_true (g_bytes_equal (report, reports[i]));
    g_bytes_unref (reports[i]);
  }
}

/* A sequence at the address of a freed one, with as many edits, is a different sequence. */
static void
test_serial (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) like = new_sequence ("linear(4) ! gelu", "2x4");
  g_autoptr (LigState) state = new_state (like, NULL);
  for (int i = 0; i < 16; i++) {
    const char *name = i % 2 ? "relu" : "silu";
    g_autofree char *expression = g_strdup_printf ("linear(4) ! %s", name);
    g_autoptr (LigSequence) sequence = new_sequence (expression, "2x4");
    g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, NULL, &error);
    guint count;
    g_assert_no_error (error);
    const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
    g_assert_cmpstr (ops[count - 1].info->name, ==, name);
  }
}

#define REJECTS(flags, message) \
  expect_error (lig_program_run (program, flags, &error), &error, LIG_ERROR_ORDER, message)

static void
test_order (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer sgd = {.name = "sgd"};
  LigPlanOptions options = options_of (&sgd);
  float value;
  g_autoptr (LigSequence) sequence = new_sequence (NET, "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  const unsigned step = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE;
  REJECTS (0, "no pass requested; request forward, backward or update");
  REJECTS (1 << 7 | step,
           "unknown flags 0x80; use forward, backward, update, accumulate and partial");
  REJECTS (LIG_RUN_FORWARD, "input missing; set it with lig_program_set_input()");
  REJECTS (LIG_RUN_BACKWARD, "no forward pass has run yet; run forward before backward");
  g_autofree double *seconds = g_new0 (double, 100);
  expect_error (lig_program_time_steps (program, seconds, &error), &error, LIG_ERROR_ORDER,
                "input missing; set it with lig_program_set_input()");
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_program_get_plan (program), &shape, &dtype);
  g_autoptr (LigTensor) input = named_tensor ("input", dtype, &shape, 1);
  g_assert_true (lig_program_set_input (program, input, &error));
  REJECTS (LIG_RUN_FORWARD, "extra input 0 missing; set it with lig_program_set_extra_input()");
  feed_inputs (program);
  REJECTS (step, "learning rate missing; set it with lig_program_set_rate()");
  expect_error (lig_program_read_loss (program, &value, &error), &error, LIG_ERROR_ORDER,
                "no loss to read: run a forward pass first");
  g_assert_cmpuint (lig_state_get_micro_step (state), ==, 0);
  run_program (program, LIG_RUN_FORWARD);
  g_assert_true (lig_program_read_loss (program, &value, &error));
  expect_error (lig_program_read_gradient_norm (program, &value, &error), &error, LIG_ERROR_ORDER,
                "no norm of the gradients to read: run an update first");
  REJECTS (LIG_RUN_ACCUMULATE | LIG_RUN_FORWARD,
           "only a backward pass accumulates gradients; request one");
  run_program (program, LIG_RUN_BACKWARD);
  REJECTS (LIG_RUN_BACKWARD,
           "the kept values are used up by an earlier backward; run forward again");
  lig_program_set_rate (program, 0.1, 0);
  run_program (program, LIG_RUN_UPDATE);
  g_assert_true (lig_program_read_gradient_norm (program, &value, &error));
  g_assert_cmpfloat (value, >, 0);
  g_assert_cmpuint (lig_state_get_step (state), ==, 1);
}

static gboolean
count_down (gpointer left)
{
  return --*(int *) left < 0;
}

/* A run that is cancelled before its first step has no effect on later runs. The update is never
 * cancelled. */
static void
test_interrupt (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer sgd = {.name = "sgd"};
  LigPlanOptions options = options_of (&sgd);
  const unsigned passes = LIG_RUN_FORWARD | LIG_RUN_BACKWARD;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! gelu ! mean-squared-error", "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  float want, got;
  int left = G_MAXINT, ended = 0;
  feed_inputs (program);
  lig_program_set_rate (program, 0.1, 0);
  run_program (program, LIG_RUN_FORWARD);
  g_assert_true (lig_program_read_loss (program, &want, &error));
  lig_program_set_interrupt (program, count_down, &left);
  for (;; ended++) {
    guint64 micro = lig_state_get_micro_step (state);
    left = ended;
    if (lig_program_run (program, passes | LIG_RUN_UPDATE, &error))
      break;
    g_assert_error (error, LIG_ERROR, LIG_ERROR_CANCELLED);
    g_clear_error (&error);
    g_assert_cmpuint (lig_state_get_micro_step (state), ==, micro);
    g_assert_cmpuint (lig_state_get_step (state), ==, 0);
    REJECTS (LIG_RUN_BACKWARD, "no forward pass has run yet; run forward before backward");
    left = G_MAXINT;
    run_program (program, LIG_RUN_FORWARD);
    g_assert_true (lig_program_read_loss (program, &got, &error));
    g_assert_cmpfloat (got, ==, want);
  }
  guint steps, updates = 0;
  const LigPlanStep *list = lig_plan_get_steps (lig_program_get_plan (program), &steps);
  for (guint i = 0; i < steps; i++)
    updates += list[i].pass == LIG_PASS_UPDATE;
  g_assert_cmpuint (updates, >, 0);
  g_assert_cmpint (ended, ==, (int) (steps - updates));
  g_assert_cmpuint (lig_state_get_step (state), ==, 1);
}

static void
test_missing_passes (void)
{
  g_autoptr (GError) error = NULL;
  float value;
  double correct, counted;
  LigPlanOptions options = options_of (NULL);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! gelu", "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) training = new_program (state, sequence, &options);
  options.training = FALSE;
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  feed_inputs (program);
  feed_inputs (training);
  g_assert_false (lig_plan_has_pass (lig_program_get_plan (program), LIG_PASS_BACKWARD));
  g_assert_true (lig_plan_has_pass (lig_program_get_plan (training), LIG_PASS_BACKWARD));
  REJECTS (LIG_RUN_FORWARD | LIG_RUN_BACKWARD,
           "the plan has no backward pass; compile it for training");
  REJECTS (LIG_RUN_UPDATE, "the plan has no update; compile it with an optimizer");
  expect_error (lig_program_run (training, LIG_RUN_FORWARD | LIG_RUN_UPDATE, &error), &error,
                LIG_ERROR_ORDER, "the plan has no update; compile it with an optimizer");
  g_assert_cmpuint (lig_state_get_step (state), ==, 0);
  run_program (program, LIG_RUN_FORWARD);
  expect_error (lig_program_read_loss (program, &value, &error), &error, LIG_ERROR_SHAPE,
                "the output is 4x3, a loss is one number; end the sequence with a loss");
  expect_error (lig_program_read_accuracy (program, &correct, &counted, &error), &error,
                LIG_ERROR_INDEX, "the plan computes no accuracy");
  expect_error (lig_program_read_gradient_norm (program, &value, &error), &error, LIG_ERROR_INDEX,
                "the plan computes no norm of the gradients");
  g_assert_null (lig_program_read_input_gradient (program, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
}

/* A result is available from its pass until the next forward pass. */
static void
test_results (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = options_of (NULL);
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! gelu", "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_assert_null (lig_program_read_output (program, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_ORDER);
  g_clear_error (&error);
  feed_inputs (program);
  for (int i = 0; i < 2; i++) {
    run_program (program, LIG_RUN_FORWARD);
    g_assert_null (lig_program_read_input_gradient (program, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_ORDER);
    g_clear_error (&error);
    run_program (program, LIG_RUN_BACKWARD);
    g_autoptr (LigTensor) gradient = lig_program_read_input_gradient (program, &error);
    g_autoptr (LigTensor) output = lig_program_read_output (program, &error);
    g_assert_no_error (error);
    g_assert_true (gradient && output);
  }
}

/* Null options are the defaults; a null tensor and a wrong device are errors. */
static void
test_null (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! gelu", "4x8");
  g_autoptr (LigPlan) compiled = lig_plan_compile (sequence, cpu_device (), NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), NULL, 1, &error);
  g_assert_no_error (error);
  LigPlanOptions defaults = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, NULL, &error);
  g_autoptr (LigPlan) same = lig_state_plan (state, sequence, &defaults, &error);
  g_assert_no_error (error);
  g_assert_true (plan == same);
  g_autoptr (LigProgramCache) cache = lig_program_cache_new (state);
  g_autoptr (LigProgram) program = lig_program_cache_get (cache, sequence, NULL, &error);
  g_assert_no_error (error);
  expect_error (lig_program_set_input (program, NULL, &error), &error, LIG_ERROR_VALUE,
                "input is null, expected a tensor");
  g_assert_null (lig_program_new (plan, NULL, &error));
  expect_error (FALSE, &error, LIG_ERROR_VALUE,
                "the state is null, a program needs a plan and a state");
  g_assert_null (lig_program_new (NULL, state, &error));
  expect_error (FALSE, &error, LIG_ERROR_VALUE,
                "the plan is null, a program needs a plan and a state");
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure (sequence, cpu_device (), NULL, 0, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (profiles->len, ==, 1);
  g_autoptr (LigDevice) null = lig_device_open ("null:h200", &error);
  g_autoptr (LigPlan) elsewhere = lig_plan_compile (sequence, null, NULL, &error);
  expect_error (lig_program_new (elsewhere, state, &error) != NULL, &error, LIG_ERROR_DEVICE,
                "the plan is for null:h200, the state is on cpu; compile for the state's device");
  g_autoptr (LigSequence) bare = new_sequence ("gelu", "4x8");
  g_autoptr (LigState) nowhere = lig_state_new (bare, null, NULL, 1, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) described = lig_state_plan (nowhere, bare, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (lig_program_new (described, nowhere, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
}

static float
first_gradient (LigProgram *program)
{
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (LigTensor) gradient = lig_program_read_input_gradient (program, NULL);
  return lig_tensor_get (gradient, 0);
}

static LigTensor *
constant (int n_axes, float value)
{
  LigShape shape;
  if (n_axes > 0)
    lig_shape_init (&shape, 1, (gint64) 1);
  else
    lig_shape_init (&shape, 0);
  LigTensor *tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_tensor_set (tensor, 0, value);
  return tensor;
}

/* A gradient that was set applies to one backward pass, even if a forward pass runs in between. */
static void
test_gradients (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = options_of (NULL);
  options.input_gradient = TRUE;
  g_autoptr (LigTensor) two = constant (1, 2), hundred = constant (1, 100);
  g_autoptr (LigSequence) sequence = new_sequence ("make-extra-output ! constant-scale(3)", "1");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_assert_true (lig_program_set_input (program, two, &error));
  g_assert_true (lig_program_set_gradient (program, two, &error));
  g_assert_true (lig_program_set_extra_gradient (program, 0, hundred, &error));
  run_program (program, LIG_RUN_FORWARD);
  g_assert_cmpfloat (first_gradient (program), ==, 106);
  g_assert_cmpfloat (first_gradient (program), ==, 0);
  g_assert_true (lig_program_set_gradient (program, two, &error));
  g_assert_cmpfloat (first_gradient (program), ==, 6);
  g_assert_true (lig_program_set_extra_gradient (program, 0, hundred, &error));
  g_assert_cmpfloat (first_gradient (program), ==, 100);
  g_assert_cmpfloat (first_gradient (program), ==, 0);
  lig_program_keep_gradients (program);
  g_assert_true (lig_program_set_gradient (program, two, &error));
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat (first_gradient (program), ==, 6);
  expect_error (lig_program_set_extra_gradient (program, 1, two, &error), &error, LIG_ERROR_INDEX,
                "there is no gradient of extra output 1: the plan has 1");
}

static void
test_loss_gradient (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = options_of (NULL);
  options.input_gradient = TRUE;
  g_autoptr (LigTensor) half = constant (0, 0.5f), one = constant (1, 1), zero = constant (1, 0);
  g_autoptr (LigSequence) sequence = new_sequence ("mean-squared-error", "1");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_assert_true (lig_program_set_input (program, one, &error));
  g_assert_true (lig_program_set_extra_input (program, 0, zero, &error));
  g_assert_cmpfloat (first_gradient (program), ==, 2);
  g_assert_true (lig_program_set_gradient (program, half, &error));
  g_assert_cmpfloat (first_gradient (program), ==, 1);
  g_assert_cmpfloat (first_gradient (program), ==, 2);
}

static void
add_arrays (LigState *state, GPtrArray *to)
{
  for (int array = 0; array < LIG_MAX_STATE_ARRAYS; array++)
    for (const char *const *path = lig_state_get_paths (state); *path; path++) {
      LigTensor *tensor = lig_state_get (state, (LigStateArray) array, *path, NULL);
      if (tensor)
        g_ptr_array_add (to, tensor);
    }
}

/* Timing restores the state bit by bit, and training continues as if no timing had happened. */
static void
test_time_steps (void)
{
  g_autoptr (GError) error = NULL;
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = options_of (&adamw);
  options.compute = LIG_FP32;
  options.parameters = LIG_BF16;
  g_autoptr (LigSequence) sequence = new_sequence (NET, "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_autoptr (GPtrArray) before = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  g_autoptr (GPtrArray) after = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  guint count;
  feed_inputs (program);
  lig_program_set_rate (program, 0.5, 0);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE);
  lig_plan_get_steps (lig_program_get_plan (program), &count);
  g_autofree double *seconds = g_new0 (double, count);
  add_arrays (state, before);
  g_assert_cmpuint (before->len, ==, 5 * 4);
  g_assert_true (lig_program_time_steps (program, seconds, &error));
  add_arrays (state, after);
  g_assert_cmpuint (after->len, ==, before->len);
  for (guint i = 0; i < before->len; i++) {
    const LigTensor *a = before->pdata[i], *b = after->pdata[i];
    g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
  }
  for (guint i = 0; i < count; i++)
    g_assert_cmpfloat (seconds[i], >=, 0);
  g_assert_cmpuint (lig_state_get_step (state), ==, 1);
  g_assert_cmpuint (lig_state_get_micro_step (state), ==, 1);
}

static LigProgram *
cached (LigProgramCache *cache, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigProgram *program = lig_program_cache_get (cache, sequence, options, &error);
  g_assert_no_error (error);
  return program;
}

static void
test_cache (void)
{
  LigPlanOptions training = options_of (NULL), evaluation = options_of (NULL);
  evaluation.training = FALSE;
  g_autoptr (LigSequence) sequence = new_sequence (NET, "4x8");
  g_autoptr (LigState) state = new_state (sequence, &training);
  LigProgramCache *cache = lig_program_cache_new (state);
  g_autoptr (LigProgram) train = cached (cache, sequence, &training);
  g_autoptr (LigProgram) evaluate = cached (cache, sequence, &evaluation);
  for (int i = 0; i < 6; i++) {
    g_autoptr (LigProgram) again = cached (cache, sequence, i % 2 ? &evaluation : &training);
    g_assert_true (again == (i % 2 ? evaluate : train));
  }
  g_assert_cmpuint (lig_state_get_n_compiled (state), ==, 2);
  g_object_set (lig_sequence_get (sequence, 2, NULL), "p", 0.5, NULL);
  g_autoptr (LigProgram) edited = cached (cache, sequence, &training);
  g_assert_true (edited != train);
  /* The cache has freed its reference; only the test's own remains. */
  g_assert_cmpint (g_atomic_int_get (&train->count), ==, 1);
  feed_inputs (train);
  run_program (train, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  lig_program_cache_free (cache);
  g_assert_cmpint (g_atomic_int_get (&edited->count), ==, 1);
  g_assert_cmpint (G_OBJECT (state)->ref_count, ==, 4);
}

/* A backend with graphs that runs captured steps immediately. It counts its calls. */
static struct {
  LigKernelFunc kernel;
  gboolean fails, out_of_memory, capturing;
  int launches, captures, graphs, replays;
} fake;

static LigStatus
fake_kernel (LigLaunch *launch)
{
  fake.launches++;
  if (fake.out_of_memory)
    return launch->where = "kernels/fake.c:7: no memory for the fake", LIG_OUT_OF_MEMORY;
  return fake.fails ? LIG_FAILED : fake.kernel (launch);
}

static LigStatus
fake_capture (LigBackendDevice *device, void *stream)
{
  g_assert_false (fake.capturing);
  fake.capturing = TRUE;
  fake.captures++;
  return LIG_OK;
}

static LigStatus
fake_capture_end (LigBackendDevice *device, void *stream, void **graph)
{
  g_assert_true (fake.capturing);
  fake.capturing = FALSE;
  fake.graphs++;
  *graph = &fake;
  return LIG_OK;
}

static LigStatus
fake_replay (LigBackendDevice *device, void *graph, void *stream)
{
  g_assert_true (graph == &fake);
  fake.replays++;
  return LIG_OK;
}

static void
fake_graph_free (LigBackendDevice *device, void *graph)
{
  g_assert_true (graph == &fake);
  fake.graphs--;
}

/* A capture in which a launch failed is not replayed; the next run captures again. */
static void
test_capture (void)
{
  g_autoptr (GError) error = NULL;
  LigBackend table = *lig_host_backend ();
  LigPlanOptions options = options_of (NULL);
  options.policy = LIG_POLICY_NONE;
  table.capture = fake_capture;
  table.capture_end = fake_capture_end;
  table.replay = fake_replay;
  table.graph_free = fake_graph_free;
  memset (&fake, 0, sizeof fake);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! gelu ! relu", "4x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  LigProgram *program = new_program (state, sequence, &options);
  program->run->calls = &table;
  fake.kernel = program->run->steps[1].function;
  program->run->steps[1].function = fake_kernel;
  feed_inputs (program);
  run_program (program, LIG_RUN_FORWARD);
  fake.fails = TRUE;
  for (int i = 1; i <= 2; i++) {
    g_assert_false (lig_program_run (program, LIG_RUN_FORWARD, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_DEVICE);
    g_clear_error (&error);
    g_assert_null (lig_program_read_output (program, &error));
    g_clear_error (&error);
    g_assert_cmpint (fake.captures, ==, i);
    g_assert_cmpint (fake.graphs, ==, 0);
  }
  fake.fails = FALSE;
  /* The message does not contain the source line where memory ran out. */
  fake.out_of_memory = TRUE;
  expect_error (lig_program_run (program, LIG_RUN_FORWARD, &error), &error, LIG_ERROR_MEMORY,
                "step 1, bias at 0: no memory for the fake");
  fake.out_of_memory = FALSE;
  run_program (program, LIG_RUN_FORWARD);
  g_assert_cmpint (fake.captures, ==, 4);
  g_assert_cmpint (fake.replays, ==, 1);
  g_assert_cmpint (fake.launches, ==, 5);
  run_program (program, LIG_RUN_FORWARD);
  g_assert_cmpint (fake.captures, ==, 4);
  g_assert_cmpint (fake.replays, ==, 2);
  lig_program_unref (program);
  g_assert_cmpint (fake.graphs, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/program/outlives", test_outlives);
  g_test_add_func ("/program/edit", test_edit);
  g_test_add_func ("/program/serial", test_serial);
  g_test_add_func ("/program/order", test_order);
  g_test_add_func ("/program/interrupt", test_interrupt);
  g_test_add_func ("/program/missing-passes", test_missing_passes);
  g_test_add_func ("/program/results", test_results);
  g_test_add_func ("/program/null", test_null);
  g_test_add_func ("/program/gradients", test_gradients);
  g_test_add_func ("/program/loss-gradient", test_loss_gradient);
  g_test_add_func ("/program/time-steps", test_time_steps);
  g_test_add_func ("/program/cache", test_cache);
  g_test_add_func ("/program/capture", test_capture);
  return g_test_run ();
}
