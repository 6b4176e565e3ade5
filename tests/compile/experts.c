/* SPDX-License-Identifier: MIT */
/* Plans of ranks that share the experts of a mixture: the parameters and gradients of each, what
 * they exchange, and its predicted time. */
#include "tests/plan/case.h"

#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/optimizer.h>
#include <string.h>

static const LigOptimizer adamw = LIG_OPTIMIZER_INIT;

#define LAYER \
  "linear(64) ! transformer-layer(4, experts=64, top-k=4, expert-features=48, activation=swiglu, " \
  "bias=false, parallel=expert) ! linear(8) ! mean-squared-error"

static LigPlan *
compile_rank (const char *expression, int rank, int data, int expert, gboolean shard)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  const LigLayout layout = {.sizes = {data, 1, 1}, .expert = expert};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.optimizer = &adamw;
  options.training = TRUE;
  options.shard_optimizer = shard;
  lig_device_assume_ranks (device, rank, &layout);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "16x64x64");
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static const LigParameter *
find_parameter (const LigPlan *plan, const char *path)
{
  for (guint i = 0; i < plan->layout->parameters->len; i++)
    if (g_str_equal (lig_plan_parameter (plan, (int) i)->path, path))
      return lig_plan_parameter (plan, (int) i);
  g_error ("no parameter %s", path);
}

/* Returns the steps of a kernel in a group, and adds the elements of their first operands. */
static guint
count_steps (const LigPlan *plan, const char *kernel, LigRankGroup group, gint64 *elements)
{
  guint count = 0;
  *elements = 0;
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (!step->kernel || !g_str_equal (step->kernel->name, kernel) ||
        lig_code_group (step->kernel, lig_plan_code (plan, i)) != group)
      continue;
    count++;
    *elements += lig_shape_size (&lig_plan_value (plan, step->operands[0].value)->shape);
    if (lig_plan_step_is_collective (step))
      g_assert_cmpfloat (lig_plan_step_get_predicted (step), >, 0);
  }
  return count;
}

/* The elements of this rank's experts: fc1 and fc2 with their weights; each is aligned. */
static gint64
count_own (int expert)
{
  return 64 / expert * (64 * 96 + 48 * 64);
}

/* Each rank has its part of the experts; their gradients are averaged over ranks with the same
 * part, and all others over all ranks. */
static void
test_gradients (void)
{
  static const int cases[][2] = {{8, 4}, {64, 64}, {1024, 64}, {1024, 2}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int data = cases[i][0], expert = cases[i][1];
    g_autoptr (LigPlan) plan = compile_rank (LAYER, data - 1, data, expert, FALSE);
    const LigParameter *weight = find_parameter (plan, "1.experts-fc1.weight");
    gint64 of_experts, others, scaled;
    g_assert_cmpint (weight->shape.axes[0], ==, 64 / expert);
    g_assert_cmpint (weight->whole.axes[0], ==, 64);
    g_assert_cmpint (lig_parameter_kind (weight), ==, LIG_PARAMETER_EXPERT);
    guint reductions = count_steps (plan, "all_reduce", LIG_GROUP_EXPERT_REPLICAS, &of_experts);
    g_assert_cmpint (reductions > 0, ==, data > expert);
    g_assert_cmpint (of_experts, ==, data > expert ? count_own (expert) : 0);
    g_assert_cmpuint (count_steps (plan, "scale", LIG_N_GROUPS, &scaled), >, 0);
    g_assert_cmpint (scaled, ==, count_own (expert));
    count_steps (plan, "all_reduce", LIG_GROUP_DATA, &others);
    /* Those of the loads of the router are 64 more. */
    g_assert_cmpint (others, ==, plan->layout->elements - count_own (expert) + 64);
  }
}

/* Returns whether two values are parts of one array of the state that have common elements. */
static gboolean
overlaps (const LigPlan *plan, int value, int other)
{
  const LigPlanValue *a = lig_plan_value (plan, value), *b = lig_plan_value (plan, other);
  return a->array == b->array && a->state_offset < b->state_offset + lig_shape_size (&b->shape) &&
         b->state_offset < a->state_offset + lig_shape_size (&a->shape);
}

/* Gradients of experts are divided after all steps that write them, and before they are averaged;
 * both only after the last micro-batch. */
static void
test_order (void)
{
  g_autoptr (LigPlan) plan = compile_rank (LAYER, 3, 1024, 64, FALSE);
  guint divisions = 0;
  for (int i = plan->phases.backward; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    if (!step->kernel || !g_str_equal (step->kernel->name, "scale"))
      continue;
    float factor;
    memcpy (&factor, lig_plan_code (plan, i)->params, sizeof factor);
    int value = step->operands[0].value;
    guint reductions = 0, writers = 0;
    g_assert_true (step->reduces);
    g_assert_cmpfloat (factor, ==, 1 / 64.0f);
    for (int j = plan->phases.backward; j < plan->phases.update; j++) {
      const LigPlanStep *other = lig_plan_step (plan, j);
      for (int k = other->n_inputs; k < other->n_operands && j != i; k++) {
        int written = other->operands[k].value;
        if (written < 0 || lig_plan_value (plan, written)->role != LIG_VALUE_PARAMETER_GRADIENT)
          continue;
        const LigParameter *of =
          lig_plan_parameter (plan, lig_plan_value (plan, written)->parameter);
        gint64 at = of->offset - lig_plan_value (plan, value)->state_offset;
        if (at < 0 || at >= lig_shape_size (&lig_plan_value (plan, value)->shape))
          continue;
        g_assert_cmpint (j, <, i);
        writers++;
      }
      if (lig_code_group (other->kernel, lig_plan_code (plan, j)) == LIG_GROUP_EXPERT_REPLICAS &&
          overlaps (plan, value, other->operands[0].value)) {
        g_assert_cmpint (j, >, i);
        reductions++;
      }
    }
    g_assert_cmpuint (writers, >, 0);
    g_assert_cmpuint (reductions, ==, 1);
    divisions++;
  }
  g_assert_cmpuint (divisions, >, 0);
}

/* The shares of experts are those of the ranks with the same ones; a range has one kind. */
static void
test_shares (void)
{
  static const int cases[][2] = {{8, 4}, {8, 8}, {16, 2}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int data = cases[i][0], expert = cases[i][1];
    g_autoptr (LigPlan) plan = compile_rank (LAYER, data - 1, data, expert, TRUE);
    gint64 end = plan->layout->elements, kept = 0, of_experts = 0;
    for (guint j = 0; j < plan->layout->shares->len; j++) {
      const LigShare *share = &g_array_index (plan->layout->shares, LigShare, j);
      gboolean apart = share->group == LIG_GROUP_EXPERT_REPLICAS;
      gint64 own = share->own.end - share->own.first;
      g_assert_cmpint (share->all.end, ==, end);
      g_assert_cmpint (own * (apart ? data / expert : data), ==, end - share->all.first);
      g_assert_cmpint (share->kept, ==, kept);
      kept += own;
      end = share->all.first;
      of_experts += apart ? share->all.end - share->all.first : 0;
    }
    g_assert_cmpint (end, ==, 0);
    g_assert_cmpint (kept, ==, plan->layout->kept_elements);
    g_assert_cmpint (of_experts, >=, count_own (expert));
    g_assert_cmpint (of_experts, <, count_own (expert) + 2 * 64 * data);
  }
}

/* Rows, their scales and sizes in the forward pass, rows back; the same without sizes backward. The
 * figures count their bytes. */
static void
test_exchange (void)
{
  g_autoptr (LigPlan) plan = compile_rank (LAYER, 0, 64, 64, FALSE);
  gint64 elements, rows = 16 * 64 * 4, room = 2 * rows;
  LigCommunication communication;
  g_assert_cmpuint (count_steps (plan, "all_to_all", LIG_GROUP_EXPERT, &elements), ==, 7);
  g_assert_cmpint (elements, ==, 4 * room * 64 + 2 * room + 64);
  lig_figures_of_communication (plan, &communication);
  g_assert_cmpint (communication.ranks, ==, 64);
  g_assert_cmpfloat (communication.bytes, >, 4.0 * (double) elements);
  g_assert_cmpfloat (communication.seconds, >, 0);
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    /* The room for an uneven load is not multiplied. */
    if (step->kernel && g_str_equal (step->kernel->name, "grouped_linear"))
      g_assert_true (step->flops == 2.0 * (double) rows * 64 * 96 ||
                     step->flops == 2.0 * (double) rows * 48 * 64);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/experts/gradients", test_gradients);
  g_test_add_func ("/compile/experts/order", test_order);
  g_test_add_func ("/compile/experts/shares", test_shares);
  g_test_add_func ("/compile/experts/exchange", test_exchange);
  return g_test_run ();
}
