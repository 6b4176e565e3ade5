/* SPDX-License-Identifier: MIT */
/* Tests the predicted overlap of collectives with other steps on many ranks. */
#include "engine/plan/plan-private.h"
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/optimizer.h>
#include <math.h>

static LigPlan *
compile_for (int ranks)
{
  static const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &optimizer;
  LigLayout layout;
  if (ranks > 0) {
    lig_layout_init (&layout, ranks);
    lig_device_assume_ranks (device, 0, &layout);
  }
  g_autoptr (LigSequence) sequence = new_sequence (
    "linear(4096) ! relu ! linear(4096) ! relu ! linear(4096) ! mean-squared-error", "2048x4096");
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static double
predict_step (LigPlan *plan)
{
  LigFigures figures;
  const LigTimedPlan timed = {.plan = plan};
  lig_figures_of_step (&timed, NULL, &figures);
  return figures.predicted;
}

/* Checks the order within lanes, and that the parts of the prediction sum to its end. Returns the
 * end. */
static double
check_lanes (LigPlan *plan)
{
  guint count;
  double ends[LIG_N_LANES] = {0}, sums[LIG_N_LANES] = {0}, end = 0, exchanged = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    gboolean beside = steps[i].lane == LIG_LANE_COMMUNICATION;
    LigLane lane = beside ? LIG_LANE_COMMUNICATION : LIG_LANE_MAIN;
    g_assert_cmpfloat (steps[i].starts, >=, ends[lane] - 1e-12);
    if (beside)
      g_assert_cmpfloat (steps[i].starts, >=, ends[LIG_LANE_MAIN] - 1e-12);
    if (steps[i].pass == LIG_PASS_UPDATE)
      g_assert_cmpfloat (steps[i].starts, >=, exchanged - 1e-12);
    ends[lane] = steps[i].starts + steps[i].lasts;
    sums[lane] += steps[i].lasts;
    exchanged = MAX (exchanged, beside ? ends[lane] : 0);
    end = MAX (end, ends[lane]);
  }
  g_assert_cmpfloat (end, >=, MAX (sums[LIG_LANE_MAIN], sums[LIG_LANE_COMMUNICATION]) - 1e-12);
  g_assert_cmpfloat_with_epsilon (predict_step (plan), end, 1e-6 * end);
  return end;
}

static void
test_ranks (void)
{
  static const int counts[] = {2, 8, 64, 1024};
  g_autoptr (LigPlan) alone = compile_for (1);
  double before = check_lanes (alone);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    LigCommunication collective;
    g_autoptr (LigPlan) plan = compile_for (counts[i]);
    double seconds = check_lanes (plan);
    g_assert_cmpfloat (seconds, >, before);
    before = seconds;
    lig_figures_of_communication (plan, &collective);
    g_assert_cmpint (collective.ranks, ==, counts[i]);
    g_assert_cmpuint (collective.collectives, >, 1);
    g_assert_cmpfloat (collective.exposed, >, 0);
    g_assert_cmpfloat (collective.exposed, <=, collective.seconds * (1 + 1e-9));
    /* Three weights and biases of fp32. */
    g_assert_cmpfloat (collective.bytes, ==, 3 * (4096. * 4096 + 4096) * 4);
  }
}

/* The keys and values of a long sequence are sent concurrently with attention; those of a short one
 * only partly. */
static void
test_ring (void)
{
  static const char *const inputs[] = {"1x262144:int32", "8x8192:int32"};
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
    g_assert_no_error (error);
    const LigLayout layout = {.sizes = {1, 8, 1}};
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    LigCommunication collective;
    options.compute = LIG_BF16;
    lig_device_assume_ranks (device, 5, &layout);
    g_autoptr (LigSequence) sequence =
      new_sequence ("embedding(1024) ! transformer-layer(16, kv-heads=4)", inputs[i]);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    g_assert_no_error (error);
    check_lanes (plan);
    lig_figures_of_communication (plan, &collective);
    g_assert_cmpuint (collective.collectives, >=, 3 * 7);
    g_assert_cmpfloat (collective.exposed, <, (i ? 0.9 : 0.3) * collective.seconds);
  }
}

/* Checks that no step after a collective writes a gradient that it averages. */
static void
check_written (LigPlan *plan, int collective)
{
  const LigPlanValue *range =
    lig_plan_value (plan, lig_plan_step (plan, collective)->operands[0].value);
  gint64 first = range->state_offset, end = first + lig_shape_size (&range->shape);
  for (int i = collective + 1; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      const LigPlanValue *value =
        step->operands[j].value < 0 ? NULL : lig_plan_value (plan, step->operands[j].value);
      if (!value || value->role != LIG_VALUE_PARAMETER_GRADIENT)
        continue;
      const LigParameter *parameter = lig_plan_parameter (plan, value->parameter);
      gint64 size = lig_shape_size (&parameter->shape);
      g_assert_true (parameter->offset >= end || parameter->offset + size <= first);
    }
  }
}

/* Gradient collectives start concurrently with attention, each after its gradients are written; the
 * last ones, with no attention left, start at once. */
static void
test_delayed (void)
{
  guint count, beside_attention = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {2, 1, 1}};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = LIG_BF16;
  options.parameters = LIG_FP32;
  lig_device_assume_ranks (device, 1, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (
    "embedding(768, vocabulary=512) ! block(4){ transformer-layer(12) } ! cross-entropy",
    "32x1024:int32");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i + 1 < count; i++) {
    if (steps[i].lane != LIG_LANE_COMMUNICATION)
      continue;
    g_assert_cmpstr (steps[i].kernel->name, ==, "all_reduce");
    check_written (plan, (int) i);
    beside_attention += g_str_equal (steps[i + 1].kernel->name, "attention_backward");
  }
  g_assert_cmpuint (beside_attention, ==, 3);
  check_lanes (plan);
}

/* One rank is predicted like a device without ranks. */
static void
test_alone (void)
{
  LigCommunication collective;
  g_autoptr (LigPlan) plain = compile_for (0);
  g_autoptr (LigPlan) alone = compile_for (1);
  g_assert_cmpfloat (predict_step (plain), ==, predict_step (alone));
  lig_figures_of_communication (alone, &collective);
  g_assert_cmpuint (collective.collectives, ==, 0);
  g_assert_cmpfloat (collective.seconds, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/lanes/ranks", test_ranks);
  g_test_add_func ("/compile/lanes/ring", test_ring);
  g_test_add_func ("/compile/lanes/delayed", test_delayed);
  g_test_add_func ("/compile/lanes/alone", test_alone);
  return g_test_run ();
}
