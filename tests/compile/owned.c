/* SPDX-License-Identifier: MIT */
/* Plans with sharded optimizer state: the shards of all ranks together, the reductions, updates and
 * gathers of each, its memory, and states that do not match. */
#include "tests/plan/case.h"

#include "engine/parallel/shares.h"
#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/optimizer.h>
#include <ligature/params-collective.h>
#include <ligature/report.h>
#include <ligature/state.h>
#include <string.h>

static const LigOptimizer adamw = LIG_OPTIMIZER_INIT;

static LigPlanOptions
make_options (gboolean shard)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.optimizer = &adamw;
  options.shard_optimizer = shard;
  return options;
}

static LigDevice *
open_rank (const char *name, int rank, int data, int tensor)
{
  g_autoptr (GError) error = NULL;
  LigDevice *device = lig_device_open (name, &error);
  g_assert_no_error (error);
  LigLayout layout = {
    .sizes = {[LIG_GROUP_DATA] = data, [LIG_GROUP_TENSOR] = tensor, [LIG_GROUP_CONTEXT] = 1}};
  lig_device_assume_ranks (device, rank, &layout);
  return device;
}

static LigPlan *
compile_rank (const char *expression,
              const char *input,
              LigDevice *device,
              const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlan *plan = lig_plan_compile (sequence, device, options, &error);
  g_assert_no_error (error);
  return plan;
}

static gboolean
runs (const LigPlanStep *step, const char *kernel)
{
  return step->kernel && g_str_equal (step->kernel->name, kernel);
}

static const LigPlanValue *
operand (const LigPlan *plan, const LigPlanStep *step, int i)
{
  return lig_plan_value (plan, step->operands[i].value);
}

/* Adds 1 to the elements of an array's value. */
static void
mark (const LigPlanValue *value, int array, guint8 *seen)
{
  g_assert_cmpint (value->array, ==, array);
  for (gint64 i = 0; i < lig_shape_size (&value->shape); i++)
    seen[value->state_offset + i]++;
}

static void
check_marks (const guint8 *seen, gint64 count, int wanted)
{
  for (gint64 i = 0; i < count; i++)
    g_assert_cmpint (seen[i], ==, wanted);
}

/* The steps of one rank that touch each element. */
typedef struct {
  guint8 *scattered, *own, *updated, *gathered, *moments;
} Marks;

/* Checks the order of the steps, and marks the elements that they touch: a range is reduced after
 * the last step that writes into it, updated, and then gathered. */
static void
follow (const LigPlan *plan, Marks *marks)
{
  for (int i = plan->phases.backward; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    const LigCollectiveParams *params =
      (const LigCollectiveParams *) (gconstpointer) lig_plan_code (plan, i)->params;
    for (int j = step->n_inputs; j < step->n_operands && i < plan->phases.update; j++) {
      const LigPlanValue *value = step->operands[j].value < 0 ? NULL : operand (plan, step, j);
      if (!value || value->role != LIG_VALUE_PARAMETER_GRADIENT)
        continue;
      gint64 at = lig_plan_parameter (plan, value->parameter)->offset;
      check_marks (marks->scattered + at, lig_shape_size (&value->shape), 0);
    }
    if (runs (step, "reduce_scatter") && step->part < 0) {
      g_assert_true (step->reduces && step->lane == LIG_LANE_COMMUNICATION);
      g_assert_true (i < plan->phases.update && params->reduction == LIG_REDUCE_MEAN);
      mark (operand (plan, step, 0), LIG_STATE_GRADIENTS, marks->scattered);
      mark (operand (plan, step, 1), LIG_STATE_GRADIENTS, marks->own);
    } else if (runs (step, "adamw")) {
      mark (operand (plan, step, 0), LIG_STATE_GRADIENTS, marks->updated);
      mark (operand (plan, step, 4), lig_state_find_array ("moment"), marks->moments);
      g_assert_cmpint (marks->own[operand (plan, step, 0)->state_offset], ==, 1);
      g_assert_cmpint (marks->gathered[operand (plan, step, 3)->state_offset], ==, 0);
    } else if (runs (step, "all_gather") && step->lane == LIG_LANE_COMMUNICATION) {
      g_assert_cmpint (marks->updated[operand (plan, step, 0)->state_offset], ==, 1);
      mark (operand (plan, step, 1), LIG_STATE_PARAMETERS, marks->gathered);
      g_assert_false (step->reduces);
    }
  }
}

/* All ranks reduce and gather each element, and one rank updates it. */
static void
check_all (const char *expression, const char *input, int data, guint ranges)
{
  g_autofree guint8 *updated = NULL;
  gint64 elements = 0;
  for (int rank = 0; rank < data; rank++) {
    LigPlanOptions options = make_options (TRUE);
    g_autoptr (LigDevice) device = open_rank ("null", rank, data, 1);
    g_autoptr (LigPlan) plan = compile_rank (expression, input, device, &options);
    elements = plan->layout->elements;
    updated = updated ? updated : g_new0 (guint8, elements);
    Marks marks = {g_new0 (guint8, elements), g_new0 (guint8, elements), updated,
                   g_new0 (guint8, elements), g_new0 (guint8, plan->layout->kept_elements)};
    g_assert_cmpuint (plan->layout->shares->len, ==, ranges);
    g_assert_cmpint (plan->layout->kept_elements * data, ==, elements);
    /* The update marks are those of all ranks: before this rank's turn, they belong to others. */
    follow (plan, &marks);
    check_marks (marks.scattered, elements, 1);
    check_marks (marks.gathered, elements, 1);
    check_marks (marks.moments, plan->layout->kept_elements, 1);
    g_free (marks.scattered);
    g_free (marks.own);
    g_free (marks.gathered);
    g_free (marks.moments);
  }
  check_marks (updated, elements, 1);
}

static void
test_shares (void)
{
  check_all ("linear(8, bias=false) ! mean-squared-error", "24x8", 2, 1);
  check_all ("linear(8) ! gelu ! linear(4) ! mean-squared-error", "24x8", 3, 2);
  /* A range ends once it has 25 MiB, inside a parameter if 5 ranks do not divide the others. */
  check_all ("linear(2048) ! relu ! linear(2048) ! relu ! linear(2048) ! mean-squared-error",
             "20x2048", 4, 3);
  check_all ("linear(2000) ! relu ! linear(2020) ! relu ! linear(2048) ! mean-squared-error",
             "20x2048", 5, 3);
  check_all ("embedding(64) ! rms-norm ! linear(256, bias=false, tied=0) ! cross-entropy",
             "8x8:int32", 4, 2);
}

/* Returns the number of collectives of gradients in the plan of one of two ranks. */
static int
count_reductions (gint64 bucket, gboolean shard, gboolean wide)
{
  int found = 0;
  LigPlanOptions options = make_options (shard);
  options.bucket_bytes = bucket;
  if (!wide)
    options.compute = options.parameters = LIG_BF16;
  g_autoptr (LigDevice) device = open_rank ("null:h200", 0, 2, 1);
  g_autoptr (LigPlan) plan = compile_rank ("block(repeat=4) { linear(512) ! relu } ! "
                                           "mean-squared-error",
                                           "8x512", device, &options);
  g_assert_cmpint (lig_plan_get_bucket_bytes (plan), ==, bucket);
  for (int i = 0; i < (int) plan->steps->len; i++)
    found += lig_plan_step (plan, i)->reduces;
  return found;
}

/* Four weights of 1 MiB each, or half of that, and the biases, which form a separate range.
 */
static void
test_buckets (void)
{
  const gint64 mib = 1 << 20;
  for (int shard = 0; shard <= 1; shard++) {
    g_assert_cmpint (count_reductions (LIG_BUCKET_INITIAL, shard, TRUE), ==, 2);
    g_assert_cmpint (count_reductions (3 * mib, shard, TRUE), ==, 3);
    g_assert_cmpint (count_reductions (mib, shard, TRUE), ==, 5);
    g_assert_cmpint (count_reductions (mib, shard, FALSE), ==, 3);
    g_assert_cmpint (count_reductions (LIG_BUCKET_MAX, shard, FALSE), ==, 2);
  }
}

/* A rank saves the memory of the other ranks' shards of two fp32 arrays and, with 16-bit
 * parameters, of the master weights. A reduce-scatter and a gather together send as much as an
 * all-reduce.
 */
static void
test_memory (void)
{
  for (int dtype = LIG_FP32; dtype <= LIG_BF16; dtype++) {
    gint64 bytes[2], elements = 0;
    double needed[2];
    for (int shard = 0; shard <= 1; shard++) {
      LigPlanOptions options = make_options (shard);
      options.compute = options.parameters = dtype;
      g_autoptr (LigDevice) device = open_rank ("null:h200", 0, 4, 1);
      g_autoptr (LigPlan) plan = compile_rank (
        "linear(512) ! relu ! linear(512) ! mean-squared-error", "8x512", device, &options);
      elements = plan->layout->elements;
      bytes[shard] = lig_plan_get_state_bytes (plan);
      needed[shard] = (double) bytes[shard] + (double) lig_plan_get_arena_bytes (plan, NULL);
      g_assert_cmpint (lig_plan_get_shares (plan), ==, shard ? 4 : 1);
      LigCommunication collective;
      lig_figures_of_communication (plan, &collective);
      g_assert_cmpfloat (collective.seconds, >, 0);
      g_autofree char *text = lig_plan_explain_ranks (plan);
      g_assert_true ((strstr (text, "update is 1/4") != NULL) == shard);
    }
    gint64 spared = (dtype == LIG_FP32 ? 2 : 3) * elements * 4 * 3 / 4;
    /* Shards are padded by less than 64 elements per rank, in both ranges. */
    g_assert_cmpint (ABS (bytes[0] - bytes[1] - spared), <, 2 * 4 * 64 * 16);
    g_assert_cmpfloat (needed[1], <, needed[0]);
  }
}

/* Ranks of a TP group without own parameters in a shard contribute nothing to the norm. */
static void
test_norms (void)
{
  static const char *const expression =
    "linear(8, parallel=column) ! gelu ! linear(8, parallel=row) ! mean-squared-error";
  for (int rank = 0; rank < 4; rank++) {
    LigPlanOptions options = make_options (TRUE);
    g_autoptr (LigDevice) device = open_rank ("null", rank, 2, 2);
    g_autoptr (LigPlan) plan = compile_rank (expression, "4x8", device, &options);
    guint gathers = 0;
    for (int i = plan->phases.update; i < (int) plan->steps->len; i++) {
      const LigPlanStep *step = lig_plan_step (plan, i);
      const LigCollectiveParams *params =
        (const LigCollectiveParams *) (gconstpointer) lig_plan_code (plan, i)->params;
      if (!runs (step, "all_gather") || step->lane != LIG_LANE_MAIN)
        continue;
      g_assert_cmpint (params->group, ==, LIG_GROUP_ALL);
      g_assert_cmpint (params->peers, ==, 4);
      gathers++;
    }
    g_assert_cmpuint (gathers, ==, 1);
  }
}

/* Without an update, each rank gets all gradients; with one DP rank, nothing is sharded. */
static void
test_none (void)
{
  LigPlanOptions options = make_options (TRUE);
  g_autoptr (LigDevice) alone = open_rank ("null", 0, 1, 1);
  g_autoptr (LigPlan) one = compile_rank ("linear(8) ! mean-squared-error", "4x8", alone, &options);
  g_assert_cmpuint (one->layout->shares->len, ==, 0);
  options.optimizer = NULL;
  g_autoptr (LigDevice) device = open_rank ("null", 0, 2, 1);
  g_autoptr (LigPlan) plan =
    compile_rank ("linear(8) ! mean-squared-error", "4x8", device, &options);
  guint reductions = 0;
  for (int i = 0; i < (int) plan->steps->len; i++) {
    g_assert_false (runs (lig_plan_step (plan, i), "reduce_scatter"));
    reductions += runs (lig_plan_step (plan, i), "all_reduce");
  }
  g_assert_cmpuint (reductions, ==, 2);
  g_assert_cmpint (lig_plan_get_shares (plan), ==, 1);
}

/* Shards end at bucket boundaries, so a state and its plans must use the same bucket size. */
static void
check_bucket_sizes (LigDevice *device)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = make_options (TRUE);
  g_autoptr (LigSequence) sequence =
    new_sequence ("linear(64) ! linear(64) ! mean-squared-error", "4x64");
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, &error);
  g_assert_no_error (error);
  options.bucket_bytes = 1;
  g_assert_null (lig_state_plan (state, sequence, &options, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "in 2 ranges, the plan in 3"));
  for (options.bucket_bytes = -1; options.bucket_bytes < 2 * LIG_BUCKET_MAX;
       options.bucket_bytes += LIG_BUCKET_MAX + 2) {
    g_clear_error (&error);
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    g_assert_nonnull (strstr (error->message, "expected 1 to 1073741824"));
  }
}

/* A state and a plan of one run shard the arrays in the same way; master weights cannot be sharded
 * if they are the only copy of the weights. */
static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = make_options (TRUE), whole = make_options (FALSE);
  g_autoptr (LigDevice) device = open_rank ("cpu", 0, 2, 1);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! mean-squared-error", "4x8");
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, &error);
  g_assert_no_error (error);
  g_assert_null (lig_state_plan (state, sequence, &whole, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "shard-optimizer"));
  g_clear_error (&error);
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, &error);
  g_assert_no_error (error);
  check_bucket_sizes (device);
  g_autoptr (LigSequence) quantized =
    new_sequence ("linear(32) ! linear(32) ! mean-squared-error", "32x32");
  options.recipe = "fp8-current";
  options.compute = LIG_BF16;
  options.parameters = LIG_FP8_E4M3;
  g_assert_null (lig_plan_compile (quantized, device, &options, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_DTYPE);
  g_assert_nonnull (strstr (error->message, "shard-optimizer"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/owned/shares", test_shares);
  g_test_add_func ("/compile/owned/buckets", test_buckets);
  g_test_add_func ("/compile/owned/memory", test_memory);
  g_test_add_func ("/compile/owned/norms", test_norms);
  g_test_add_func ("/compile/owned/none", test_none);
  g_test_add_func ("/compile/owned/rejected", test_rejected);
  return g_test_run ();
}
