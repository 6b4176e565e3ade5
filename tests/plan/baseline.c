/* SPDX-License-Identifier: MIT */
/* Tests the unfused plan: compiled only for comparison, it is cheaper to compile, has the figures
 * of a plan that runs, and cannot run. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/figures.h>

static double
sum_bytes (LigPlan *plan)
{
  double sum = 0;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      g_assert_null (groups[i].fusion);
      sum += groups[i].bytes;
    }
  }
  return sum;
}

static void
test_comparison_only (void)
{
  guint verdicts;
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(64) ! gelu ! linear(32)", "16x32");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) compared = lig_plan_unfuse (plan, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) whole = lig_plan_compile_unfused (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  lig_plan_get_verdicts (plan, &verdicts);
  g_assert_cmpuint (verdicts, >, 0);
  lig_plan_get_verdicts (compared, &verdicts);
  g_assert_cmpuint (verdicts, ==, 0);
  g_assert_cmpfloat (sum_bytes (compared), >, 0);
  g_assert_cmpfloat (sum_bytes (compared), ==, sum_bytes (whole));

  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 1, &error);
  g_assert_no_error (error);
  g_autoptr (LigProgram) runs = lig_program_new (whole, state, &error);
  g_assert_no_error (error);
  g_assert_nonnull (runs);
  g_assert_null (lig_program_new (compared, state, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "compile the sequence with policy none"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/baseline/comparison-only", test_comparison_only);
  return g_test_run ();
}
