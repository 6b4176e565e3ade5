/* SPDX-License-Identifier: MIT */
/* Tests comparisons of two plans: an edit, another device, another policy, repetitions. */
#include <ligature/comparison.h>
#include <ligature/compile.h>
#include <ligature/plan-options.h>

#include <math.h>
#include <string.h>

static LigPlan *
compile (const char *expression, const char *device_name, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_parse ("2048x768:bf16", &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  options.policy = policy;
  options.input_gradient = TRUE;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static LigPlanComparison *
compare (const char *before, const char *after)
{
  g_autoptr (LigPlan) a = compile (before, "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) b = compile (after, "null:h200", LIG_POLICY_ALL);
  return lig_plan_compare (a, b);
}

static guint
count_different (LigPlanComparison *comparison)
{
  guint count, different = 0;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    different += !changes[i].same;
  return different;
}

static const LigPlanChange *
find_different (LigPlanComparison *comparison, LigPass pass)
{
  guint count;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++)
    if (!changes[i].same && changes[i].pass == pass)
      return &changes[i];
  return NULL;
}

/* Every group of both plans belongs to exactly one change, in order. */
static void
check_whole (LigPlanComparison *comparison)
{
  guint count, n_groups;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint before = 0, after = 0;
    for (guint i = 0; i < count; i++) {
      if (changes[i].pass != pass)
        continue;
      g_assert_cmpuint (changes[i].before.first_group, ==, before);
      g_assert_cmpuint (changes[i].after.first_group, ==, after);
      before += changes[i].before.n_groups;
      after += changes[i].after.n_groups;
    }
    lig_plan_get_groups (lig_plan_comparison_get_before (comparison), pass, &n_groups);
    g_assert_cmpuint (before, ==, n_groups);
    lig_plan_get_groups (lig_plan_comparison_get_after (comparison), pass, &n_groups);
    g_assert_cmpuint (after, ==, n_groups);
  }
}

static double
sum_predicted (LigPlan *plan)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    seconds += steps[i].predicted;
  return seconds;
}

static void
test_equal (void)
{
  LigPlanChange total;
  g_autoptr (LigPlanComparison) same =
    compare ("layer-norm ! linear(3072) ! gelu", "layer-norm ! linear(3072) ! gelu");
  check_whole (same);
  g_assert_cmpuint (count_different (same), ==, 0);
  lig_plan_comparison_get_total (same, LIG_PASS_JOINT, &total);
  g_assert_true (total.same && !total.measured);
  g_assert_cmpfloat (total.before.seconds, >, 0);
  g_assert_cmpfloat (total.before.seconds, ==, total.after.seconds);
  double whole = sum_predicted (lig_plan_comparison_get_before (same));
  g_assert_cmpfloat_with_epsilon (total.before.seconds, whole, whole * 1e-9);
}

/* A fence splits one group into two with a higher total cost. */
static void
test_fence (void)
{
  LigPlanChange total;
  g_autoptr (LigPlan) fused =
    compile ("layer-norm ! linear(3072) ! gelu", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) apart =
    compile ("layer-norm ! linear(3072) ! | ! gelu", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (fused, apart);
  check_whole (comparison);
  const LigPlanChange *forward = find_different (comparison, LIG_PASS_FORWARD);
  g_assert_nonnull (forward);
  g_assert_cmpuint (forward->before.n_groups, ==, 1);
  g_assert_cmpuint (forward->after.n_groups, ==, 2);
  g_assert_cmpint (forward->before.first, ==, forward->after.first);
  g_assert_cmpint (forward->before.count, ==, forward->after.count);
  g_assert_cmpfloat (forward->after.seconds, >, forward->before.seconds);
  g_assert_cmpfloat (forward->after.bytes, >, forward->before.bytes);
  lig_plan_comparison_get_total (comparison, LIG_PASS_FORWARD, &total);
  g_assert_false (total.same);
  g_assert_cmpfloat_with_epsilon (total.after.seconds - total.before.seconds,
                                  forward->after.seconds - forward->before.seconds, 1e-12);
}

/* Groups after an inserted op are still the same, although their paths differ. */
static void
test_inserted (void)
{
  guint count;
  g_autoptr (LigPlanComparison) comparison =
    compare ("linear(3072) ! gelu ! linear(768) ! layer-norm",
             "linear(3072) ! gelu ! rms-norm ! linear(768) ! layer-norm");
  check_whole (comparison);
  const LigPlanChange *forward = find_different (comparison, LIG_PASS_FORWARD);
  g_assert_nonnull (forward);
  g_assert_cmpuint (forward->before.n_groups, ==, 0);
  g_assert_cmpint (forward->before.count, ==, 0);
  g_assert_cmpuint (forward->after.n_groups, ==, 1);
  const LigPlanOp *ops = lig_plan_get_ops (lig_plan_comparison_get_after (comparison), &count);
  g_assert_cmpstr (ops[forward->after.first].info->name, ==, "rms-norm");
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, forward->after.first), ==, -1);
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, (int) count - 1), ==, (int) count - 2);
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, (int) count), ==, -1);
}

/* Ops that differ at both ends and in the middle are aligned by their common ops. */
static void
test_aligned (void)
{
  g_autoptr (LigPlanComparison) comparison =
    compare ("rms-norm ! linear(768) ! silu ! layer-norm ! relu",
             "layer-norm ! linear(768) ! layer-norm ! gelu");
  check_whole (comparison);
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, 1), ==, 1);
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, 3), ==, 4);
  g_assert_cmpint (lig_plan_comparison_find_op (comparison, 0), ==, -1);
}

static void
test_devices (void)
{
  LigPlanChange total;
  g_autoptr (LigPlan) h200 =
    compile ("linear(3072) ! gelu ! linear(768)", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) a100 =
    compile ("linear(3072) ! gelu ! linear(768)", "null:a100", LIG_POLICY_ALL);
  g_autoptr (LigPlan) unknown =
    compile ("linear(3072) ! gelu ! linear(768)", "null", LIG_POLICY_ALL);
  g_autoptr (LigPlanComparison) known = lig_plan_compare (h200, a100);
  g_autoptr (LigPlanComparison) vague = lig_plan_compare (h200, unknown);
  lig_plan_comparison_get_total (known, LIG_PASS_JOINT, &total);
  g_assert_cmpfloat (total.after.seconds, >, 1.5 * total.before.seconds);
  lig_plan_comparison_get_total (vague, LIG_PASS_JOINT, &total);
  g_assert_true (isnan (total.after.seconds));
  g_assert_false (isnan (total.before.seconds));
}

/* A change in each repetition of a block is counted at the first one. */
static void
test_repetitions (void)
{
  guint count, folded = 0, all = 0;
  g_autoptr (LigPlanComparison) comparison =
    compare ("block(repeat=5) { linear(3072) ! gelu ! linear(768) ! layer-norm }",
             "block(repeat=5) { linear(3072) ! | ! gelu ! linear(768) ! layer-norm }");
  check_whole (comparison);
  const LigPlanChange *changes = lig_plan_comparison_get_changes (comparison, &count);
  for (guint i = 0; i < count; i++) {
    g_assert_cmpuint (changes[i].like, <=, i);
    g_assert_true ((changes[i].times > 0) == (changes[i].like == i));
    all += changes[i].times;
    if (!changes[i].same && changes[i].pass == LIG_PASS_FORWARD && changes[i].times > 0) {
      g_assert_cmpuint (changes[i].times, ==, 5);
      folded++;
    }
  }
  g_assert_cmpuint (all, ==, count);
  g_assert_cmpuint (folded, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/comparison/equal", test_equal);
  g_test_add_func ("/plan/comparison/fence", test_fence);
  g_test_add_func ("/plan/comparison/inserted", test_inserted);
  g_test_add_func ("/plan/comparison/aligned", test_aligned);
  g_test_add_func ("/plan/comparison/devices", test_devices);
  g_test_add_func ("/plan/comparison/repetitions", test_repetitions);
  return g_test_run ();
}
