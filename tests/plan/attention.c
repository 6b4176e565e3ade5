/* SPDX-License-Identifier: MIT */
/* Which attention of a plan for a GPU is left to the own kernel, and why. */
#include "tests/plan/case.h"

/* Compiles and returns the reason of the steps of attention, which must all have the same one. */
static const char *
explain (const char *expression, const char *input, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  const char *reason = NULL;
  guint count, found = 0;
  options.input_gradient = TRUE;
  g_autoptr (LigDevice) device = lig_device_open (name, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++) {
    const char *own = lig_plan_explain_attention (plan, i);
    if (!steps[i].kernel || !g_str_has_prefix (steps[i].kernel->name, "attention")) {
      g_assert_null (own);
      continue;
    }
    if (found++ > 0)
      g_assert_cmpstr (own, ==, reason);
    reason = own;
  }
  g_assert_cmpuint (found, ==, 2);
  return reason;
}

static void
test_reasons (void)
{
  g_assert_null (explain ("attention(heads=4)", "2x16x192:bf16", "null:h200"));
  g_assert_null (explain ("attention(heads=4, window=8)", "2x16x192:fp16", "null:h200"));
  g_assert_nonnull (
    strstr (explain ("attention(heads=4)", "2x16x192:fp32", "null:h200"), "bf16 or fp16"));
  g_assert_nonnull (strstr (
    explain ("attention(heads=4, dropout=0.1)", "2x16x192:bf16", "null:h200"), "random numbers"));
  g_assert_nonnull (
    strstr (explain ("attention(heads=4, alibi=true)", "2x16x192:bf16", "null:h200"), "ALiBi"));
  /* On the CPU there is nothing to explain. */
  g_assert_null (explain ("attention(heads=4, dropout=0.1)", "2x16x192:bf16", "cpu"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attention/reasons", test_reasons);
  return g_test_run ();
}
