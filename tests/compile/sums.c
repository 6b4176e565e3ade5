/* SPDX-License-Identifier: MIT */
/* Tests that the figures of a group are the sums of its steps, even if a shared parameter adds
 * steps to a group after the others. */
#include "tests/plan/case.h"
#include <ligature/compile.h>

static void
check_pass (LigPlan *plan, LigPass pass)
{
  guint n_groups, n_steps;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n_groups);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  for (guint i = 0; i < n_groups; i++) {
    double bytes = 0, flops = 0, predicted = 0;
    guint count = 0;
    for (guint j = 0; j < n_steps; j++) {
      if (steps[j].pass != pass || steps[j].group != (int) i)
        continue;
      bytes += steps[j].read + steps[j].written;
      flops += steps[j].flops;
      predicted += steps[j].predicted;
      count++;
    }
    g_test_message ("%s: %u steps", groups[i].title, count);
    g_assert_cmpint (groups[i].n_steps, ==, (int) count);
    g_assert_cmpfloat_with_epsilon (groups[i].bytes, bytes, 1e-6 * bytes);
    g_assert_cmpfloat_with_epsilon (groups[i].flops, flops, 1e-6 * flops);
    g_assert_cmpfloat_with_epsilon (groups[i].predicted, predicted, 1e-6 * predicted);
  }
}

static void
test_groups (void)
{
  static const char *const expressions[] = {
    "linear(7) ! silu ! linear(7)",
    "linear(7) ! silu ! linear(7, tied=0)",
    "linear(7, tied=2) ! silu ! linear(7) ! layer-norm ! linear(5)",
    "linear(7, tied=1) ! linear(7)",
  };
  static const LigPolicy policies[] = {LIG_POLICY_NONE, LIG_POLICY_ALL};
  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    for (guint j = 0; j < G_N_ELEMENTS (policies); j++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
      g_assert_no_error (error);
      LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
      options.policy = policies[j];
      options.input_gradient = TRUE;
      g_autoptr (LigSequence) sequence = new_sequence (expressions[i], "5x7");
      g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
      g_assert_no_error (error);
      g_test_message ("%s, policy %s", expressions[i], lig_policy_name (policies[j]));
      check_pass (plan, LIG_PASS_FORWARD);
      check_pass (plan, LIG_PASS_BACKWARD);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile-sums/groups", test_groups);
  return g_test_run ();
}
