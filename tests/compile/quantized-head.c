/* SPDX-License-Identifier: MIT */
/* A head with a recipe before its loss: it is quantized if its logits are small, and stays in the
 * compute type if the fused head and loss is forced, or if the logits are a large share of the
 * memory, in both training and evaluation. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>

#define FUSION "joint-linear-cross-entropy"

static LigPlan *
plan_head (LigSequence *sequence, LigDevice *device, gboolean training)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = training;
  options.policy = LIG_POLICY_ALL;
  options.recipe = "fp8-current";
  options.compute = LIG_BF16;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the verdict on the joint fusion at the last matmul; null if there is none. */
static const LigVerdict *
joint_verdict (LigPlan *plan)
{
  guint count;
  const LigVerdict *last = NULL, *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (verdicts[i].fusion->name, FUSION))
      last = &verdicts[i];
  return last;
}

/* Checks whether the matmuls at a path are quantized; `why` is part of the reason, null if they
 * are. */
static void
check_matmuls (LigPlan *plan, const char *path, const char *why)
{
  guint count, matmuls = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    if (!g_str_equal (ops[i].path, path) || !g_str_equal (ops[i].info->name, "basic-linear"))
      continue;
    matmuls++;
    g_test_message ("%s: %s", path, ops[i].unquantized ? ops[i].unquantized : "quantized");
    if (why) {
      g_assert_null (ops[i].recipe);
      g_assert_nonnull (strstr (ops[i].unquantized, why));
    } else {
      g_assert_cmpstr (ops[i].recipe, ==, "fp8-current");
      g_assert_null (ops[i].unquantized);
    }
  }
  g_assert_cmpuint (matmuls, ==, 1);
}

static guint
count_kernels (LigPlan *plan, const char *kernel)
{
  guint count, found = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    found += steps[i].kernel && g_str_equal (steps[i].kernel->name, kernel);
  return found;
}

/* With small logits, the head keeps its recipe; the verdict says so, and the edit that it offers
 * enables the fusion. The other matmul keeps its recipe. */
static void
test_small (gconstpointer head)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup_printf (
    "embedding(32, vocabulary=48) ! linear(64) ! %s ! cross-entropy", (const char *) head);
  g_autoptr (LigSequence) sequence = new_sequence (text, "4x16:int32");
  g_autoptr (LigPlan) plan = plan_head (sequence, cpu_device (), TRUE);
  check_matmuls (plan, "1", NULL);
  check_matmuls (plan, "2", NULL);
  g_assert_cmpuint (count_kernels (plan, "linear_cross_entropy"), ==, 0);
  const LigVerdict *verdict = joint_verdict (plan);
  g_assert_false (verdict->taken);
  g_assert_cmpint (verdict->reason, ==, LIG_REASON_RECIPE);
  g_assert_cmpstr (verdict->text, ==, FUSION ": recipe is fp8-current, expected none");
  g_assert_cmpint (verdict->fix->kind, ==, LIG_FIX_FORCE);
  g_assert_true (lig_fix_apply (verdict->fix, sequence, &error));
  g_assert_no_error (error);
  for (int training = 0; training < 2; training++) {
    g_autoptr (LigPlan) forced = plan_head (sequence, cpu_device (), training);
    check_matmuls (forced, "1", NULL);
    check_matmuls (forced, "2", FUSION " is forced");
    g_assert_cmpuint (count_kernels (forced, "linear_cross_entropy"), ==, (guint) training);
    verdict = joint_verdict (forced);
    g_assert_true (training ? verdict->taken : !verdict);
  }
}

/* The gradients of a forced head are bit-identical to those of a head without a recipe, even if its
 * weight is stored only in fp32 and fp8. */
static void
test_forced_values (gconstpointer parameters)
{
  static const char *const forced[] = {FUSION, NULL};
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  options.policy = LIG_POLICY_ALL;
  options.compute = LIG_BF16;
  options.parameters = GPOINTER_TO_INT (parameters);
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  options.optimizer = &optimizer;
  Results *results[2];
  for (int recipe = 0; recipe < 2; recipe++) {
    g_autofree char *text = g_strdup_printf ("embedding(32, vocabulary=48) ! "
                                             "linear(64, recipe=fp8-rows) ! "
                                             "linear(48, recipe=%s) ! cross-entropy",
                                             recipe ? "fp8-delayed" : "none");
    g_autoptr (LigSequence) sequence = new_sequence (text, "4x16:int32");
    lig_op_set_forced (lig_sequence_find (sequence, "2", NULL), forced);
    results[recipe] = compute (sequence, &options);
  }
  compare_results (results[1], results[0], 0, "a forced head");
  results_free (results[0]);
  results_free (results[1]);
}

/* Large logits: a quarter of the memory of a described device, and a little less. */
static void
test_large (void)
{
  static const struct {
    const char *input;
    gboolean large;
  } cases[] = {{"64x8192:int32", FALSE}, {"256x2048:int32", TRUE}, {"64x2048:int32", FALSE}};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  double memory = (double) lig_device_get_facts (device)->memory;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    /* The first is just below the limit. */
    gint64 rows = i == 0 ? 64 * 8192 : i == 1 ? 256 * 2048 : 64 * 2048;
    gint64 classes = i == 0 ? (gint64) (0.249 * memory / 2 / (double) rows) / 16 * 16 : 50304;
    g_autofree char *text = g_strdup_printf (
      "embedding(64, vocabulary=16) ! linear(%" G_GINT64_FORMAT ", bias=false) ! cross-entropy",
      classes);
    g_autoptr (LigSequence) sequence = new_sequence (text, cases[i].input);
    for (int training = 0; training < 2; training++) {
      g_autoptr (LigPlan) plan = plan_head (sequence, device, training);
      check_matmuls (plan, "1", cases[i].large ? "at least 25 %, so " FUSION : NULL);
      g_assert_cmpuint (count_kernels (plan, "linear_cross_entropy"), ==,
                        cases[i].large && training ? 1 : 0);
    }
  }
}

/* A head is quantized if its fusion is forbidden or blocked by a fence. */
static void
test_wishes (void)
{
  static const char *const fusions[] = {FUSION, NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  for (int wish = 0; wish < 3; wish++) {
    g_autoptr (LigSequence) sequence = new_sequence (
      "embedding(64, vocabulary=16) ! linear(50304) ! cross-entropy", "256x2048:int32");
    LigOp *head = lig_sequence_find (sequence, "1", NULL);
    if (wish == 0)
      lig_sequence_set_forbidden (sequence, fusions);
    else if (wish == 1)
      lig_op_set_forbidden (head, fusions);
    else
      lig_op_set_fence (lig_sequence_find (sequence, "2", NULL), TRUE);
    g_autoptr (LigPlan) plan = plan_head (sequence, device, TRUE);
    check_matmuls (plan, "1", NULL);
    g_assert_cmpint (joint_verdict (plan)->reason, ==,
                     wish < 2 ? LIG_REASON_FORBIDDEN : LIG_REASON_FENCED);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/quantized-head/small", "linear(48, bias=false)", test_small);
  g_test_add_data_func ("/quantized-head/small-with-bias", "linear(48)", test_small);
  g_test_add_data_func ("/quantized-head/forced-values", GINT_TO_POINTER (LIG_FP32),
                        test_forced_values);
  g_test_add_data_func ("/quantized-head/forced-values-fp8", GINT_TO_POINTER (LIG_FP8_E4M3),
                        test_forced_values);
  g_test_add_func ("/quantized-head/large", test_large);
  g_test_add_func ("/quantized-head/wishes", test_wishes);
  return g_test_run ();
}
