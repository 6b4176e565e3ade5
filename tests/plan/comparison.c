/* SPDX-License-Identifier: MIT */
/* Tests comparisons of two plans: an edit, another device, another policy, repetitions. */
#include <ligature/comparison.h>
#include <ligature/compile.h>
#include <ligature/plan-memory.h>
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

static void
check_total (LigPlanComparison *comparison, LigPass pass)
{
  LigPlanChange total;
  LigPlan *plans[] = {lig_plan_comparison_get_before (comparison),
                      lig_plan_comparison_get_after (comparison)};
  lig_plan_comparison_get_total (comparison, pass, &total);
  const LigPlanSide *sides[] = {&total.before, &total.after};
  for (int i = 0; i < 2; i++) {
    LigFigures figures;
    const LigTimedPlan timed = {.plan = plans[i]};
    if (pass == LIG_PASS_JOINT)
      lig_figures_of_step (&timed, NULL, &figures);
    else
      lig_figures_of_pass (&timed, NULL, pass, &figures);
    g_assert_cmpfloat_with_epsilon (sides[i]->seconds, figures.seconds, 1e-12);
    g_assert_cmpfloat (sides[i]->bytes, ==, figures.bytes);
    g_assert_cmpuint (sides[i]->n_steps, ==, figures.kernels);
    g_assert_cmpfloat (sides[i]->memory, ==,
                       pass == LIG_PASS_JOINT ? lig_plan_get_needed_memory (plans[i]) : 0);
  }
}

/* Recomputation takes time and saves memory, which the totals show as every other figure does. */
static void
test_recomputed (void)
{
  LigPlanChange total;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plain = compile (
    "block(4) { layer-norm ! linear(3072) ! gelu ! linear(768) }", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) again = lig_plan_with_recompute (plain, LIG_RECOMPUTE_ALL, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (plain, again);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_JOINT; pass++)
    check_total (comparison, pass);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  g_autofree char *ratio = lig_plan_change_ratio_text (&total);
  g_autofree char *memory = lig_plan_change_memory_text (&total);
  g_assert_cmpint (lig_plan_change_get_sign (&total), ==, 1);
  g_assert_true (g_str_has_prefix (ratio, "× 1."));
  g_assert_true (g_str_has_suffix (ratio, ", slower"));
  g_assert_true (g_str_has_prefix (memory, "−"));
}

/* Measured times are used if both plans have them, as a whole if they were measured so. */
static void
test_timed (void)
{
  LigPlanChange total;
  guint n_steps;
  g_autoptr (LigPlan) plan = compile ("linear(768) ! gelu", "null:h200", LIG_POLICY_ALL);
  lig_plan_get_steps (plan, &n_steps);
  g_autofree double *steps = g_new (double, n_steps);
  const double passes[] = {0.011, 0.022, 0};
  for (guint i = 0; i < n_steps; i++)
    steps[i] = 0.001 * (i + 1);
  const LigTimedPlan predicted = {.plan = plan}, timed = {.plan = plan, .steps = steps};
  const LigTimedPlan whole = {plan, steps, passes, NULL};
  g_autoptr (LigPlanComparison) half = lig_plan_compare_timed (&predicted, &timed);
  lig_plan_comparison_get_total (half, LIG_PASS_JOINT, &total);
  g_assert_false (total.measured);
  g_assert_cmpfloat (total.before.seconds, ==, total.after.seconds);
  g_autoptr (LigPlanComparison) both = lig_plan_compare_timed (&timed, &whole);
  lig_plan_comparison_get_total (both, LIG_PASS_JOINT, &total);
  g_assert_true (total.measured);
  g_assert_cmpfloat_with_epsilon (total.before.seconds, 0.001 * n_steps * (n_steps + 1) / 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (total.after.seconds, 0.033, 1e-12);
}

/* Returns the same plan with a time of each of its first `count` forward groups by themselves. */
static LigPlan *
price (LigPlan *plan, guint count)
{
  guint n_steps, n_groups;
  lig_plan_get_steps (plan, &n_steps);
  g_autofree double *steps = g_new0 (double, n_steps);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &n_groups);
  g_assert_cmpuint (count, <=, n_groups);
  for (guint i = 0; i < count; i++)
    for (int k = 0; k < groups[i].n_steps; k++)
      steps[groups[i].steps[k]] = 0.5;
  return lig_plan_with_times (plan, steps);
}

/* If only one side was measured, the total compares the predictions of both. Groups that were
 * measured on both sides count by their measured times. */
static void
test_one_side (void)
{
  g_autoptr (LigPlan) unfused =
    compile ("layer-norm ! linear(768) ! gelu", "null:h200", LIG_POLICY_NONE);
  g_autoptr (LigPlan) plan =
    compile ("layer-norm ! linear(768) ! gelu", "null:h200", LIG_POLICY_ALL);
  g_autoptr (LigPlan) priced = price (plan, 2);
  g_autoptr (LigPlan) first = price (unfused, 1);
  g_autoptr (LigPlanComparison) predicted = lig_plan_compare (unfused, plan);
  g_autoptr (LigPlanComparison) half = lig_plan_compare (unfused, priced);
  g_autoptr (LigPlanComparison) turned = lig_plan_compare (priced, unfused);
  g_autoptr (LigPlanComparison) some = lig_plan_compare (first, priced);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_JOINT; pass++) {
    LigPlanChange expected, found, reverse, mixed;
    lig_plan_comparison_get_total (predicted, pass, &expected);
    lig_plan_comparison_get_total (half, pass, &found);
    lig_plan_comparison_get_total (turned, pass, &reverse);
    lig_plan_comparison_get_total (some, pass, &mixed);
    g_assert_false (found.measured || reverse.measured || mixed.measured);
    g_assert_cmpfloat (found.before.seconds, ==, expected.before.seconds);
    g_assert_cmpfloat (found.after.seconds, ==, expected.after.seconds);
    g_assert_cmpfloat (reverse.before.seconds, ==, expected.after.seconds);
    g_assert_cmpfloat (reverse.after.seconds, ==, expected.before.seconds);
    g_assert_cmpint (lig_plan_change_get_sign (&found), ==, lig_plan_change_get_sign (&expected));
    /* Only the first group, layer norm, has times on both sides. */
    gboolean holds = pass == LIG_PASS_FORWARD || pass == LIG_PASS_JOINT;
    double rest = holds ? 0.5 : 0;
    g_assert_true (fabs (mixed.before.seconds - rest - expected.before.seconds) < 1e-4);
    g_assert_true (fabs (mixed.after.seconds - rest - expected.after.seconds) < 1e-4);
  }
}

static LigSpread
make_spread (double median, double width)
{
  return (LigSpread){15, median, median - width / 2, median + width / 2};
}

/* Totals of repeated measurements differ only by more than their noise. The whole step is not the
 * sum of its passes. */
static void
test_noise (void)
{
  LigPlanChange step, pass;
  guint n_steps;
  g_autoptr (LigPlan) plan = compile ("linear(768) ! gelu", "null:h200", LIG_POLICY_ALL);
  lig_plan_get_steps (plan, &n_steps);
  g_autofree double *steps = g_new0 (double, n_steps);
  const double before[] = {0.010, 0.020, 0}, after[] = {0.0101, 0.025, 0};
  const LigSpread first[] = {
    make_spread (0.010, 0.002), make_spread (0.020, 0.002), {0}, make_spread (0.029, 0.001)};
  const LigSpread second[] = {
    make_spread (0.0101, 0.002), make_spread (0.025, 0.002), {0}, make_spread (0.0345, 0.001)};
  const LigTimedPlan a = {plan, steps, before, first}, b = {plan, steps, after, second};
  g_autoptr (LigPlanComparison) both = lig_plan_compare_timed (&a, &b);
  lig_plan_comparison_get_total (both, LIG_PASS_FORWARD, &pass);
  g_assert_cmpint (pass.difference.kind, ==, LIG_DIFFERENCE_NONE);
  g_assert_cmpint (lig_plan_change_get_sign (&pass), ==, 0);
  g_assert_null (lig_plan_change_ratio_text (&pass));
  g_autofree char *none = lig_plan_change_time_text (&pass);
  g_assert_true (g_str_has_prefix (none, "no difference (noise "));
  lig_plan_comparison_get_total (both, LIG_PASS_JOINT, &step);
  g_assert_cmpfloat (step.before.seconds, ==, 0.029);
  g_assert_cmpfloat (step.after.seconds, ==, 0.0345);
  g_assert_cmpint (step.difference.kind, ==, LIG_DIFFERENCE_MORE);
  g_autofree char *ratio = lig_plan_change_ratio_text (&step);
  g_assert_cmpstr (ratio, ==, "× 1.19, slower");
  /* A time without repetitions has no noise. */
  const LigTimedPlan once = {plan, steps, after, NULL};
  g_autoptr (LigPlanComparison) plain = lig_plan_compare_timed (&a, &once);
  lig_plan_comparison_get_total (plain, LIG_PASS_FORWARD, &pass);
  g_assert_cmpint (pass.difference.kind, ==, LIG_DIFFERENCE_UNKNOWN);
  g_assert_cmpint (lig_plan_change_get_sign (&pass), ==, 1);
}

/* A factor never has more than five characters. */
static void
test_factors (void)
{
  static const struct {
    double factor;
    const char *text;
  } cases[] = {{0.001, "× <0.01"}, {0.0123, "× 0.012"}, {0.5, "× 0.500"},   {1.234, "× 1.23"},
               {12.34, "× 12.3"},  {123.4, "× 123"},    {12345, "× 12345"}, {1e7, "× 1e+07"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const LigPlanChange change = {.before.seconds = 1, .after.seconds = cases[i].factor};
    g_autofree char *text = lig_plan_change_factor_text (&change);
    g_assert_cmpstr (text, ==, cases[i].text);
  }
  const LigPlanChange same = {.before.seconds = 1, .after.seconds = 1};
  const LigPlanChange unknown = {.before.seconds = 1, .after.seconds = NAN};
  g_assert_null (lig_plan_change_factor_text (&same));
  g_assert_null (lig_plan_change_factor_text (&unknown));
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
  g_test_add_func ("/plan/comparison/recomputed", test_recomputed);
  g_test_add_func ("/plan/comparison/timed", test_timed);
  g_test_add_func ("/plan/comparison/one-side", test_one_side);
  g_test_add_func ("/plan/comparison/noise", test_noise);
  g_test_add_func ("/plan/comparison/factors", test_factors);
  return g_test_run ();
}
