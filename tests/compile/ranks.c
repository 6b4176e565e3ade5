/* SPDX-License-Identifier: MIT */
/* Plans of one of several ranks: the averaged gradients, and the time and lane of each. */
#include "tests/plan/case.h"

#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/params-attention.h>
#include <ligature/params-collective.h>
#include <string.h>

static LigPlan *
compile_rank (const char *expression, const char *input, int ranks, LigPlanOptions *options)
{
  static const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null", &error);
  g_assert_no_error (error);
  LigLayout layout;
  lig_layout_init (&layout, ranks);
  lig_device_assume_ranks (device, ranks - 1, &layout);
  options->optimizer = &optimizer;
  options->training = TRUE;
  options->policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  LigPlan *plan = lig_plan_compile (sequence, device, options, &error);
  g_assert_no_error (error);
  return plan;
}

static gboolean
is_reduction (const LigPlanStep *step)
{
  return step->kernel && g_str_equal (step->kernel->name, "all_reduce");
}

/* Marks the elements of a reduction; none may be reduced twice. */
static void
mark (const LigPlan *plan, int index, guint8 *reduced)
{
  const LigPlanStep *step = lig_plan_step (plan, index);
  const LigCollectiveParams *params =
    (const LigCollectiveParams *) (gconstpointer) lig_plan_code (plan, index)->params;
  const LigPlanValue *value = lig_plan_value (plan, step->operands[0].value);
  g_assert_cmpint (params->peers, ==, 2);
  g_assert_cmpint (params->reduction, ==, LIG_REDUCE_MEAN);
  g_assert_cmpint (step->lane, ==, LIG_LANE_COMMUNICATION);
  g_assert_true (step->reduces && step->pass == LIG_PASS_BACKWARD);
  for (gint64 i = 0; i < lig_shape_size (&value->shape); i++)
    g_assert_cmpint (reduced[value->state_offset + i]++, ==, 0);
}

/* No step writes a gradient after its reduction, and each gradient is reduced. */
static guint
check (LigPlan *plan)
{
  g_autofree guint8 *reduced = g_new0 (guint8, plan->layout->elements + 1);
  guint count = 0;
  for (int i = plan->phases.backward; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (is_reduction (step)) {
      mark (plan, i, reduced);
      count++;
      continue;
    }
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      const LigPlanValue *value =
        step->operands[j].value < 0 ? NULL : lig_plan_value (plan, step->operands[j].value);
      if (value && value->role == LIG_VALUE_PARAMETER_GRADIENT)
        g_assert_cmpint (reduced[lig_plan_parameter (plan, value->parameter)->offset], ==, 0);
    }
  }
  for (gint64 i = 0; i < plan->layout->elements; i++)
    g_assert_cmpint (reduced[i], ==, 1);
  return count;
}

static void
test_buckets (void)
{
  static const struct {
    const char *expression, *input;
    guint count;
  } cases[] = {
    {"linear(8, bias=false) ! mean-squared-error", "4x8", 1},
    {"linear(8) ! gelu ! linear(4) ! mean-squared-error", "4x8", 2},
    /* Each weight has 16 MiB, and a bucket ends once it has 25. */
    {"linear(2048) ! relu ! linear(2048) ! relu ! linear(2048) ! mean-squared-error", "4x2048", 3},
    {"linear(4096) ! relu ! linear(4096) ! mean-squared-error", "4x4096", 3},
    {"embedding(64) ! rms-norm ! linear(256, bias=false, tied=0) ! cross-entropy", "4x8:int32", 2},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigPlan) plan = compile_rank (cases[i].expression, cases[i].input, 2, &options);
    g_assert_cmpuint (check (plan), ==, cases[i].count);
  }
}

/* The reduction of the last weights starts before the backward pass ends. */
static void
test_early (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan =
    compile_rank ("linear(4096) ! relu ! linear(4096) ! relu ! linear(4096) ! mean-squared-error",
                  "4x4096", 2, &options);
  guint after = 0;
  gboolean found = FALSE;
  for (int i = plan->phases.backward; i < plan->phases.update; i++) {
    found = found || is_reduction (lig_plan_step (plan, i));
    after += found && !is_reduction (lig_plan_step (plan, i));
  }
  g_assert_cmpuint (after, >=, 3);
}

/* A group has its own steps, even if gradient collectives or recomputation steps are between
 * them. */
static void
test_groups (void)
{
  guint between = 0;
  for (LigRecompute level = LIG_RECOMPUTE_NONE; level <= LIG_RECOMPUTE_ALL; level++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.recompute = level;
    g_autoptr (LigPlan) plan =
      compile_rank ("block(3) { transformer-layer(2, ffn-features=2048) } ! linear(2048) ! "
                    "mean-squared-error",
                    "2x8x512", 2, &options);
    g_autofree guint8 *seen = g_new0 (guint8, plan->steps->len);
    for (int pass = 0; pass < 2; pass++)
      for (guint i = 0; i < plan->groups[pass]->len; i++) {
        const LigPlanGroup *group = lig_plan_group (plan, pass, i);
        for (int k = 0; k < group->n_steps; k++) {
          const LigPlanStep *step = lig_plan_step (plan, group->steps[k]);
          g_assert_true ((int) step->pass == pass && step->group == (int) i && !step->again);
          g_assert_false (is_reduction (step) || seen[group->steps[k]]++);
          g_assert_true (k == 0 || group->steps[k] > group->steps[k - 1]);
          between += k > 0 && group->steps[k] > group->steps[k - 1] + 1;
        }
      }
    for (guint i = 0; i < plan->steps->len; i++)
      g_assert_cmpint (seen[i], ==, lig_plan_step (plan, i)->group >= 0);
  }
  g_assert_cmpuint (between, >, 0);
}

/* One rank, an evaluation and a plan without trained parameters reduce nothing. */
static void
test_none (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) alone = compile_rank ("linear(8) ! mean-squared-error", "4x8", 1, &options);
  for (guint i = 0; i < alone->steps->len; i++)
    g_assert_false (is_reduction (lig_plan_step (alone, (int) i)));
  options = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
  options.freeze = "*";
  g_autoptr (LigPlan) frozen = compile_rank ("linear(8) ! mean-squared-error", "4x8", 2, &options);
  for (guint i = 0; i < frozen->steps->len; i++)
    g_assert_false (is_reduction (lig_plan_step (frozen, (int) i)));
}

/* Frozen parameters have no gradients among those that are reduced. */
static void
test_frozen (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.freeze = "0.*";
  g_autoptr (LigPlan) plan =
    compile_rank ("linear(8) ! relu ! linear(4) ! mean-squared-error", "4x8", 2, &options);
  g_assert_cmpuint (check (plan), ==, 2);
}

/* The text names the lane; the memory of a collective stays allocated until the update. */
static void
test_text (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = compile_rank ("linear(8) ! mean-squared-error", "4x8", 2, &options);
  g_autofree char *text = lig_plan_to_text (plan);
  g_assert_nonnull (strstr (text, "all_reduce (gradients[0] -> gradients[0])"));
  g_assert_nonnull (strstr (text, " communication\n"));
}

enum { RANKS = 4 };

/* Returns the plan of one rank of a sharded sequence. */
static LigPlan *
compile_positions (const char *layer, const char *input, int rank, GError **error)
{
  static const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  const LigLayout layout = {.sizes = {1, RANKS, 1}};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autofree char *expression =
    g_strdup_printf ("embedding(32) ! transformer-layer(4, kv-heads=2%s) ! linear(9) ! "
                     "cross-entropy",
                     layer);
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  lig_device_assume_ranks (device, rank, &layout);
  options.optimizer = &optimizer;
  options.training = TRUE;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  return device ? lig_plan_compile (sequence, device, &options, error) : NULL;
}

static gboolean
runs (const LigPlanStep *step, const char *kernel)
{
  return step->kernel && g_str_equal (step->kernel->name, kernel);
}

/* Returns the number of steps with this kernel that communicate within the group. */
static guint
count_collectives (const LigPlan *plan, const char *kernel, LigRankGroup group)
{
  guint count = 0;
  for (guint i = 0; i < plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, (int) i);
    const LigCollectiveParams *params =
      (const LigCollectiveParams *) (gconstpointer) lig_plan_code (plan, i)->params;
    count += runs (step, kernel) && params->group == (int) group && params->peers == RANKS;
  }
  return count;
}

/* With a window, keys and values are gathered, but not queries, and their gradients are scattered;
 * parameters are averaged over all ranks that have them. */
static void
test_gathered (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = compile_positions (", window=7", "2x16:int32", RANKS - 1, &error);
  g_assert_no_error (error);
  guint blocks = 0;
  for (guint i = 0; i < plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, (int) i);
    const LigAttentionParams *attention =
      (const LigAttentionParams *) (gconstpointer) lig_plan_code (plan, i)->params;
    if (runs (step, "all_gather"))
      g_assert_cmpint (lig_shape_size (&lig_plan_value (plan, step->operands[1].value)->shape), ==,
                       2 * 16 * 2 * 2 * 8);
    if (!runs (step, "attention"))
      continue;
    g_assert_cmpint (attention->length, ==, 2);
    g_assert_cmpint (attention->memory_length, ==, blocks ? 2 * 5 : 2 * 4);
    g_assert_cmpint (attention->mask, ==, LIG_MASK_CAUSAL_BOTTOM_RIGHT);
    blocks++;
  }
  g_assert_cmpuint (blocks, ==, 2);
  g_assert_cmpuint (count_collectives (plan, "all_gather", LIG_GROUP_CONTEXT), ==, 1);
  g_assert_cmpuint (count_collectives (plan, "reduce_scatter", LIG_GROUP_CONTEXT), ==, 1);
  g_assert_cmpuint (count_collectives (plan, "ring_exchange", LIG_GROUP_CONTEXT), ==, 0);
  g_assert_cmpuint (count_collectives (plan, "all_reduce", LIG_GROUP_REPLICAS), >, 0);
}

/* Returns the operations of attention in each step of the ring, and checks that its keys arrive
 * concurrently with attention over the previous keys. */
static double
check_ring (const LigPlan *plan, const char *kernel, int steps)
{
  double min = G_MAXDOUBLE, max = 0;
  int found = 0, last = -1;
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (runs (step, "ring_exchange"))
      g_assert_cmpint (step->lane, ==, LIG_LANE_COMMUNICATION);
    if (!runs (step, kernel))
      continue;
    for (int j = MAX (last, plan->phases.forward); j <= i && found > 0 && found < steps - 1; j++)
      if (lig_plan_step (plan, j)->awaits >= 0)
        g_assert_cmpint (lig_plan_step (plan, j)->awaits, <, last);
    const LigAttentionParams *params =
      (const LigAttentionParams *) (gconstpointer) lig_plan_code (plan, i)->params;
    if (params->mask == LIG_MASK_NONE) {
      min = MIN (min, step->flops);
      max = MAX (max, step->flops);
    }
    last = i;
    found++;
  }
  g_assert_cmpint (found, ==, steps);
  g_assert_cmpfloat (min, ==, max);
  return max;
}

/* Keys, values and their gradients are sent around the ring, and nothing is gathered; all ranks
 * have equal work in each step. */
static void
test_ring (void)
{
  double work[2] = {0};
  for (int rank = 0; rank < RANKS; rank++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigPlan) plan = compile_positions ("", "2x16:int32", rank, &error);
    g_assert_no_error (error);
    double forward = check_ring (plan, "attention", RANKS);
    double backward = check_ring (plan, "attention_backward", RANKS);
    g_assert_cmpfloat (forward, ==, rank > 0 ? work[0] : forward);
    g_assert_cmpfloat (backward, ==, rank > 0 ? work[1] : backward);
    work[0] = forward;
    work[1] = backward;
    g_assert_cmpuint (count_collectives (plan, "all_gather", LIG_GROUP_CONTEXT), ==, 0);
    g_assert_cmpuint (count_collectives (plan, "reduce_scatter", LIG_GROUP_CONTEXT), ==, 0);
    g_assert_cmpuint (count_collectives (plan, "ring_exchange", LIG_GROUP_CONTEXT), ==,
                      3 * (RANKS - 1));
    g_assert_cmpuint (count_collectives (plan, "all_reduce", LIG_GROUP_REPLICAS), >, 0);
  }
}

/* A rank's memory does not grow with the number of ranks if its number of tokens is fixed. */
static void
test_ring_memory (void)
{
  gint64 bytes[2];
  for (int i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open ("null", &error);
    const LigLayout layout = {.sizes = {1, i ? 16 : 4, 1}};
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    lig_device_assume_ranks (device, 1, &layout);
    g_autoptr (LigSequence) sequence =
      new_sequence ("linear(96) ! attention(4) ! mean-squared-error", i ? "2x1024x32" : "2x256x32");
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    g_assert_no_error (error);
    bytes[i] = lig_plan_get_arena_bytes (plan, NULL);
  }
  g_assert_cmpint (bytes[1], ==, bytes[0]);
}

/* Sizes that are not divisible, and inputs without a sequence axis, are rejected with the
 * numbers. */
static void
test_unsharded (void)
{
  static const char *const cases[][2] = {{"2x12:int32", "12, expected a multiple of 8"},
                                         {"2x4x8:int32", "2x4x8 int32"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (compile_positions ("", cases[i][0], RANKS - 1, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
    g_assert_nonnull (strstr (error->message, cases[i][1]));
    g_assert_nonnull (strstr (error->message, "context=4"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/ranks/buckets", test_buckets);
  g_test_add_func ("/compile/ranks/early", test_early);
  g_test_add_func ("/compile/ranks/groups", test_groups);
  g_test_add_func ("/compile/ranks/none", test_none);
  g_test_add_func ("/compile/ranks/frozen", test_frozen);
  g_test_add_func ("/compile/ranks/text", test_text);
  g_test_add_func ("/compile/ranks/gathered", test_gathered);
  g_test_add_func ("/compile/ranks/ring", test_ring);
  g_test_add_func ("/compile/ranks/ring-memory", test_ring_memory);
  g_test_add_func ("/compile/ranks/unsharded", test_unsharded);
  return g_test_run ();
}
