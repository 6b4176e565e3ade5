/* SPDX-License-Identifier: MIT */
/* Scratch memory of kernels: a value of the plan that is live during its step, placed next to
 * others, counted, shown, aligned, poisoned, and large enough for each step of an op. */
#include "tests/plan/case.h"

#include <ligature/lowering.h>
#include <ligature/register.h>
#include <ligature/tuning.h>

static const char *last_scratch;
static guint launches, unordered;   /* unordered: may add up in any order */
static gint64 scratch_bytes = 3000; /* beyond the operands' */

/* y = 2 x through the scratch memory, which is completely overwritten. */
static LigStatus
run_detour (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  gint64 bytes = scratch_bytes + o[0].size * 4;
  float *scratch = launch->scratch;
  g_assert_nonnull (scratch);
  g_assert_cmpuint (GPOINTER_TO_SIZE (scratch) % 256, ==, 0);
  memset (scratch, 0x5a, (gsize) bytes);
  for (int64_t i = 0; i < o[0].size; i++)
    scratch[i] = ((const float *) o[0].data)[i];
  for (int64_t i = 0; i < o[0].size; i++)
    ((float *) o[1].data)[i] = 2 * scratch[i];
  last_scratch = launch->scratch;
  launches++;
  unordered += launch->nondeterministic;
  return LIG_OK;
}

static int64_t
count_scratch (const LigLaunch *launch, LigBackendKind backend)
{
  g_assert_cmpint (backend, ==, LIG_BACKEND_CPU);
  return scratch_bytes + launch->operands[0].size * 4;
}

static const LigKernel detour = {.size = sizeof (LigKernel),
                                 .name = "scratch-detour",
                                 .signature = "x -> y",
                                 .work = 1,
                                 .types = LIG_TYPES (LIG_FP32),
                                 .functions = {[LIG_BACKEND_CPU] = run_detour},
                                 .scratch = count_scratch};

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scratch-detour", "x=x y=y", NULL, 0);
}

/* Two launches of one kernel in one step of an op, of different sizes. */
static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scratch-detour", "x=small y=dsmall", NULL, 0);
  lig_lower_kernel (lowering, "scratch-detour", "x=dy y=dx", NULL, 0);
}

static gboolean
infer (LigInfer *infer, GError **error)
{
  if (infer->extra_inputs[0].n_axes < 0)
    lig_shape_init (&infer->extra_inputs[0], 1, G_GINT64_CONSTANT (2));
  return TRUE;
}

static const LigOpInfo op = {LIG_OP_INFO_SIZES,
                             .name = "detour",
                             .title = "Detour",
                             .category = "Other",
                             .summary = "Doubles",
                             .example = "detour @ 3x4",
                             .extra_inputs = "small",
                             .saves = "small",
                             .infer = infer,
                             .lower_forward = lower_forward,
                             .lower_backward = lower_backward};

static const LigPlanValue *
find_value (LigPlan *plan, const char *name, guint nth)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (values[i].name, name) && nth-- == 0)
      return &values[i];
  return NULL;
}

static void
test_plan (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! detour ! gelu", "5x7");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigPlanValue *forward = find_value (plan, "#1.scratch-detour.scratch", 0);
  g_assert_nonnull (forward);
  g_assert_cmpstr (lig_place_name (forward->place), ==, "arena");
  g_assert_cmpint (forward->bytes, ==, 3000 + 5 * 7 * 4);
  g_assert_cmpint (forward->first, ==, 1);
  g_assert_cmpint (forward->last, ==, 1);
  /* Each step of an op has scratch memory of its own size. */
  const LigPlanValue *small = find_value (plan, "#1.scratch-detour.scratch", 1);
  const LigPlanValue *large = find_value (plan, "#1.scratch-detour.scratch", 2);
  g_assert_cmpint (small->bytes, ==, 3000 + 2 * 4);
  g_assert_cmpint (large->bytes, ==, 3000 + 5 * 7 * 4);
  g_assert_null (find_value (plan, "#1.scratch-detour.scratch", 3));
  g_assert_cmpint (small->first, ==, small->last);
  g_assert_cmpint (large->first, ==, small->first + 1);
  /* Steps that do not overlap share memory. */
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  g_assert_cmpint (peak, >=, forward->bytes);
  g_assert_cmpint (arena, <, 2 * 3000 + 5 * 7 * 4 * 10 + 256 * 10);
  g_autofree char *text = lig_plan_to_text (plan);
  g_assert_nonnull (strstr (text, "  #1.scratch-detour.scratch 785:fp32 at "));
}

static void
test_runs (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! detour ! gelu", "5x7");
  g_autoptr (LigSequence) plain = new_sequence ("gelu ! constant-scale(2) ! gelu", "5x7");
  g_autoptr (Results) want = compute (plain, &options);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  launches = 0;
  for (int i = 0; i < 3; i++) {
    feed_inputs (program);
    feed_gradients (program);
    run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
    g_autoptr (Results) got = read_results (program, TRUE);
    g_assert_cmpfloat (
      distance_between (results_find (got, "output"), results_find (want, "output")), <=, 1e-6);
    g_assert_cmpfloat (
      distance_between (results_find (got, "grad.input"), results_find (want, "grad.input")), <=,
      1e-6);
  }
  g_assert_cmpuint (launches, ==, 9);
  g_assert_nonnull (last_scratch);
}

/* Policy `measured` times kernels with scratch memory of their size. */
static void
test_measured (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! gelu ! detour ! linear(8)", "5x8");
  options.policy = LIG_POLICY_NONE;
  g_autoptr (Results) want = compute (sequence, &options);
  options.policy = LIG_POLICY_MEASURED;
  g_autoptr (Results) got = compute (sequence, &options);
  compare_results (got, want, 1e-5, "measured");
}

static gboolean
know_nothing (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  return FALSE;
}

static void
keep_key (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
  g_ptr_array_add (data, g_strdup (key));
}

/* The option reaches every launch and is part of the keys of measured times. */
static void
test_order (void)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  LigTuning tuning = {.get = know_nothing, .put = keep_key, .data = keys};
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! detour", "5x7");
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigPlan) ordered = lig_state_plan (state, sequence, &options, NULL);
  options.nondeterministic = TRUE;
  g_autoptr (LigPlan) free_order = lig_state_plan (state, sequence, &options, NULL);
  g_assert_false (lig_plan_get_nondeterministic (ordered));
  g_assert_true (lig_plan_get_nondeterministic (free_order));
  g_autofree char *text = lig_plan_to_text (free_order);
  g_assert_nonnull (strstr (text, "parameters fp32, nondeterministic, policy all"));
  for (int on = 0; on < 2; on++) {
    options.policy = LIG_POLICY_MEASURED;
    options.nondeterministic = on;
    options.tuning = &tuning;
    launches = unordered = 0;
    g_ptr_array_set_size (keys, 0);
    g_autoptr (Results) results = compute (sequence, &options);
    g_assert_cmpuint (launches, >=, 3);
    g_assert_cmpuint (unordered, ==, on ? launches : 0);
    g_assert_cmpuint (keys->len, >, 0);
    for (guint i = 0; i < keys->len; i++)
      g_assert_cmpint (strstr (keys->pdata[i], "|nondeterministic") != NULL, ==, on);
  }
}

static void
test_absurd (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) sequence = new_sequence ("detour", "5x7");
  scratch_bytes = G_MAXINT64 - 1000;
  check_rejected (sequence, &options, LIG_ERROR_MEMORY,
                  "the plan's values take more than 2^61 bytes");
  scratch_bytes = 3000;
  /* Without elements, the kernel is not launched and needs none. */
  g_autoptr (LigSequence) empty = new_sequence ("detour", "0x7");
  g_autoptr (LigPlan) plan = compile (empty, &options);
  const LigPlanValue *only = find_value (plan, "#0.scratch-detour.scratch", 0);
  g_assert_cmpint (only->bytes, ==, 3000 + 2 * 4);
  g_assert_null (find_value (plan, "#0.scratch-detour.scratch", 1));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  lig_register_kernel (&detour, &error);
  g_assert_no_error (error);
  lig_register_op (&op, &error);
  g_assert_no_error (error);
  g_test_add_func ("/scratch/plan", test_plan);
  g_test_add_func ("/scratch/runs", test_runs);
  g_test_add_func ("/scratch/measured", test_measured);
  g_test_add_func ("/scratch/order", test_order);
  g_test_add_func ("/scratch/absurd", test_absurd);
  return g_test_run ();
}
