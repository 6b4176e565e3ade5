/* SPDX-License-Identifier: MIT */
/* Tests that plans for described GPUs choose and predict by the costs of their kernels. */
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>

#include <math.h>
#include <string.h>

#define MLP \
  "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! " \
  "add-extra-input(from=r)"

static LigSequence *
new_sequence (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  LigShape shape;
  LigDtype dtype;
  lig_shape_parse (input, &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
  return sequence;
}

/* Opens the described H200; `change` may edit its facts. */
static LigDevice *
open_device (void (*change) (LigDeviceFacts *facts))
{
  g_autoptr (GError) error = NULL;
  LigDevice *device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (device);
  if (change)
    change (&facts);
  lig_device_set_facts (device, &facts);
  return device;
}

static LigPlan *
compile (LigSequence *sequence, LigDevice *device, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  options.input_gradient = TRUE;
  options.policy = policy;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static gboolean
has_group (LigPlan *plan, LigPass pass, const char *fusion)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].fusion && g_str_equal (groups[i].fusion->name, fusion))
      return TRUE;
  return FALSE;
}

static void
forget_costs (LigDeviceFacts *facts)
{
  facts->costs = (LigDeviceCosts){0};
}

static void
set_cost (LigDeviceFacts *facts, LigCost cost, double seconds)
{
  for (int i = 0; i < LIG_COST_SIZES; i++)
    facts->costs.kernels[cost * LIG_COST_SIZES + i] = seconds;
}

static void
make_gelu_slow (LigDeviceFacts *facts)
{
  set_cost (facts, LIG_COST_MATMUL_GELU, 1e-3);
}

static void
make_gelu_gradient_free (LigDeviceFacts *facts)
{
  set_cost (facts, LIG_COST_MATMUL_GELU_GRADIENT, 0);
  set_cost (facts, LIG_COST_MATMUL_GELU_SUMS, 0);
}

/* A described GPU with known costs chooses by prediction unless another policy is requested. */
static void
test_default_policy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (MLP, "2048x768:bf16");
  g_autoptr (LigDevice) known = open_device (NULL), unknown = open_device (forget_costs);
  g_autoptr (LigDevice) cpu = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) predicted = compile (sequence, known, LIG_POLICY_DEFAULT);
  g_autoptr (LigPlan) bare = compile (sequence, unknown, LIG_POLICY_DEFAULT);
  g_autoptr (LigPlan) here = compile (sequence, cpu, LIG_POLICY_DEFAULT);
  g_assert_cmpint (lig_plan_get_policy (predicted), ==, LIG_POLICY_MEASURED);
  g_assert_cmpint (lig_plan_get_policy (bare), ==, LIG_POLICY_ALL);
  g_assert_cmpint (lig_plan_get_policy (here), ==, LIG_POLICY_ALL);
}

static gboolean
is_gelu_epilogue (const char *fusion)
{
  return g_str_equal (fusion, "backward-bias-gelu-linear") ||
         g_str_equal (fusion, "backward-gelu-linear-biases");
}

static gboolean
has_gelu_epilogue (LigPlan *plan)
{
  return has_group (plan, LIG_PASS_BACKWARD, "backward-bias-gelu-linear") ||
         has_group (plan, LIG_PASS_BACKWARD, "backward-gelu-linear-biases");
}

/* The costs decide: a slow epilogue is not fused, with both times in its verdict; a free one is. */
static void
test_costs_decide (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (MLP, "2048x768:bf16");
  g_autoptr (LigDevice) usual = open_device (NULL), slow = open_device (make_gelu_slow);
  g_autoptr (LigDevice) free = open_device (make_gelu_gradient_free);
  g_autoptr (LigPlan) plan = compile (sequence, usual, LIG_POLICY_MEASURED);
  g_autoptr (LigPlan) without = compile (sequence, slow, LIG_POLICY_MEASURED);
  g_autoptr (LigPlan) with = compile (sequence, free, LIG_POLICY_MEASURED);
  guint count;
  g_assert_false (has_gelu_epilogue (plan));
  g_assert_true (has_gelu_epilogue (with));
  const LigPlanGroup *groups = lig_plan_get_groups (without, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    if (groups[i].fusion && groups[i].first <= 2)
      g_assert_cmpint (groups[i].first + groups[i].count, <=, 4);
  const LigVerdict *verdicts = lig_plan_get_verdicts (with, &count);
  gboolean found = FALSE;
  for (guint i = 0; i < count; i++)
    if (is_gelu_epilogue (verdicts[i].fusion->name) && verdicts[i].taken)
      found = TRUE;
  g_assert_true (found);
}

/* No step is predicted to exceed the peak rates, and the groups' times are the sums of their steps.
 */
static void
check_sums (const char *expression, const char *input)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigDevice) device = open_device (NULL);
  g_autoptr (LigPlan) plan = compile (sequence, device, LIG_POLICY_MEASURED);
  guint n_steps, n_groups;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  for (guint i = 0; i < n_steps; i++) {
    g_assert_cmpfloat (steps[i].floor, >, 0);
    g_assert_cmpfloat (steps[i].predicted, >, 0);
    if (!steps[i].lane)
      g_assert_cmpfloat (steps[i].predicted, >, 0.85 * steps[i].floor);
  }
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n_groups);
    for (guint i = 0; i < n_groups; i++) {
      double predicted = 0, floor = 0;
      for (int k = 0; k < groups[i].n_steps; k++) {
        predicted += steps[groups[i].steps[k]].predicted;
        floor += steps[groups[i].steps[k]].floor;
      }
      g_assert_cmpfloat_with_epsilon (groups[i].predicted, predicted, 1e-12);
      g_assert_cmpfloat_with_epsilon (groups[i].floor, floor, 1e-12);
    }
  }
}

static void
test_sums (void)
{
  check_sums (MLP, "2048x768:bf16");
  check_sums (MLP, "64x768:fp32");
  check_sums ("linear(1024) ! swiglu ! linear(256) ! rms-norm ! dropout(0.1)", "16384x256:bf16");
}

/* The measured times of the passes on an H200 in microseconds; a prediction may differ by 15 %.
 */
static void
test_passes (void)
{
  static const struct {
    const char *input;
    double forward, backward;
  } cases[] = {
    {"512x768:bf16", 21.5, 39.2},
    {"2048x768:bf16", 44.0, 91.6},
    {"16384x768:bf16", 299, 573},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (MLP, cases[i].input);
    g_autoptr (LigDevice) device = open_device (NULL);
    g_autoptr (LigPlan) plan = compile (sequence, device, LIG_POLICY_DEFAULT);
    const LigTimedPlan timed = {.plan = plan};
    LigFigures forward, backward;
    lig_figures_of_pass (&timed, NULL, LIG_PASS_FORWARD, &forward);
    lig_figures_of_pass (&timed, NULL, LIG_PASS_BACKWARD, &backward);
    g_assert_cmpfloat (fabs (forward.seconds * 1e6 / cases[i].forward - 1), <, 0.15);
    g_assert_cmpfloat (fabs (backward.seconds * 1e6 / cases[i].backward - 1), <, 0.15);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/predictions/default-policy", test_default_policy);
  g_test_add_func ("/compile/predictions/costs-decide", test_costs_decide);
  g_test_add_func ("/compile/predictions/sums", test_sums);
  g_test_add_func ("/compile/predictions/passes", test_passes);
  return g_test_run ();
}
