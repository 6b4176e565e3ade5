/* SPDX-License-Identifier: MIT */
/* Matmuls that write the quantized copy of gelu: in evaluation, with known scales. */
#include "tests/plan/case.h"

#define FUSION "forward-linear-bias-gelu-quantize"

/* In evaluation the matmul writes the quantized copy of gelu itself, if the scale is known. */
static void
test_taken (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  guint count, matmuls = 0;
  options.policy = LIG_POLICY_ALL;
  options.training = FALSE;
  options.recipe = "fp8-delayed";
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(64) ! gelu ! linear(32)", "32x48");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan,
                "[0 1 forward-quantize] [2 3 4 5 6 forward-linear-bias-gelu-quantize] "
                "[7 8 9 forward-linear-bias-activation]",
                "");
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    matmuls += steps[i].kernel && g_str_equal (steps[i].kernel->name, "linear_fp8_gelu");
  g_assert_cmpuint (matmuls, ==, 1);
  g_autoptr (Results) fused = compute (sequence, &options);
  options.policy = LIG_POLICY_NONE;
  g_autoptr (Results) apart = compute (sequence, &options);
  compare_results (fused, apart, 0.04, "gelu in the matmul");
}

/* Training also needs a transposed copy; other recipes compute their scales from the values. */
static void
test_rejected (void)
{
  static const struct {
    const char *recipe, *layers, *text;
    gboolean training;
    int first;
  } rejected[] = {
    {"fp8-current", "linear(64)", "recipe is fp8-current, expected fp8-delayed", FALSE, 2},
    {"fp8-rows", "linear(64)", "recipe is fp8-rows, expected fp8-delayed", FALSE, 2},
    {"fp8-delayed", "linear(64, recipe=none)", "recipe is none, expected fp8-delayed", FALSE, 1},
    {"fp8-delayed", "linear(64)", "transposed copy for the backward pass", TRUE, 2},
    {"fp8-delayed", "linear(64) ! gelu ! quantize", "without a history, at a separate op", FALSE,
     2},
  };
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autofree char *text =
      g_strdup_printf ("layer-norm ! %s ! gelu ! linear(32)", rejected[i].layers);
    options.training = rejected[i].training;
    options.recipe = rejected[i].recipe;
    g_autoptr (LigSequence) other = new_sequence (text, "32x48");
    g_autoptr (LigPlan) planned = compile (other, &options);
    const LigVerdict *verdict = find_verdict (planned, FUSION, rejected[i].first);
    g_assert_nonnull (verdict);
    g_assert_cmpint (verdict->reason, ==, LIG_REASON_RECIPE);
    if (!strstr (verdict->text, rejected[i].text))
      g_error ("%s; expected %s", verdict->text, rejected[i].text);
  }
}

/* An fp16 overflow becomes NaN in other copies; the matmul would saturate it. */
static void
test_overflow (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.training = FALSE;
  options.recipe = "fp8-delayed";
  options.compute = LIG_FP16;
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! linear(64) ! gelu ! linear(32)", "32x48");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  const LigVerdict *verdict = find_verdict (plan, FUSION, 2);
  g_assert_nonnull (verdict);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_DTYPE);
  g_assert_nonnull (strstr (verdict->text, "fp16, expected fp32 or bf16"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/gelu-matmuls/taken", test_taken);
  g_test_add_func ("/compile/gelu-matmuls/rejected", test_rejected);
  g_test_add_func ("/compile/gelu-matmuls/overflow", test_overflow);
  return g_test_run ();
}
