/* SPDX-License-Identifier: MIT */
/* Verified plans: every fusion is inside its limits, and a wrong factor in any output of its
 * kernels is found at that group. */
#include "engine/plan/plan-private.h"
#include "tests/plan/spoil.h"

#include <ligature/optimizer.h>

/* --- Every fusion -------------------------------------------------------------------------- */

typedef struct {
  const char *fusion, *expression;
} Case;

static const Case cases[] = {
  {"forward-linear-bias-add", "basic-linear(32) ! bias ! add-extra-input"},
  {"forward-linear-scale-add", "basic-linear(32) ! constant-scale(2) ! add-extra-input"},
  {"forward-linear-bias-activation", "basic-linear(32) ! bias ! gelu"},
  {"forward-linear-bias-activation", "basic-linear(32) ! relu"},
  {"forward-add-norm", "add-extra-input ! make-extra-output ! layer-norm"},
  {"forward-add-norm", "add-extra-input ! rms-norm"},
  {"forward-bias-activation", "bias ! silu"},
  {"forward-bias-activation", "bias ! swiglu"},
  {"forward-embedding-position", "embedding(32) ! position-embedding(32)"},
  {"backward-linear-add", "make-extra-output ! basic-linear(32) ! bias"},
  {"backward-linear-scale", "basic-linear(32) ! constant-scale(2)"},
  {"backward-activation-bias", "bias ! relu"},
  {"backward-activation-bias", "bias ! geglu"},
  {"backward-add-norm", "make-extra-output ! layer-norm"},
  {"backward-add-norm", "make-extra-output ! rms-norm"},
  {"backward-linear-bias", "basic-linear(32) ! bias"},
  {"backward-bias-gelu-linear", "bias ! gelu ! basic-linear(32) ! bias"},
  {"backward-linear-input-bias", "basic-linear(32) ! bias"},
  {"backward-gelu-linear-biases", "bias ! gelu ! basic-linear(32) ! bias"},
  {"joint-linear-cross-entropy", "basic-linear(64) ! cross-entropy"},
  {"forward-grouped-linear-gated", "mixture-of-experts(4, expert-features=32, interleave=32)"},
  {"backward-gated-grouped-linear", "mixture-of-experts(4, expert-features=32, interleave=32)"},
};

/* Fusions under a recipe, and whether the plan trains. */
static const Case quantized[] = {
  {"joint-bias-activation-quantize", "linear(32) ! gelu ! linear(32)"},
  {"forward-quantize", "gelu ! linear(32, bias=false)"},
  {"forward-add-norm-quantize", "add-extra-input ! layer-norm ! linear(32, bias=false)"},
  {"forward-bias-activation-quantize", "bias ! gelu ! linear(32, bias=false)"},
  {"backward-quantize", "linear(32, bias=false) ! bias ! relu"},
  {"backward-linear-scale", "linear(32, bias=false) ! constant-scale(2)"},
  {"backward-norm-quantize", "linear(32, bias=false) ! layer-norm"},
};

static LigSequence *
open_case (const Case *of)
{
  const char *input = g_str_has_prefix (of->expression, "embedding") ? "8x32:int32" : "32x32";
  return new_sequence (of->expression, input);
}

static void
check_case (const Case *of, const LigPlanOptions *options, gboolean forced)
{
  g_autoptr (LigSequence) sequence = open_case (of);
  if (forced)
    force (sequence, "0", of->fusion);
  g_autoptr (LigPlan) plan = compile (sequence, options);
  g_autoptr (LigVerification) found = verify_with (plan, 3);
  g_autofree char *text = lig_verification_explain (found);
  g_test_message ("%s on %s: %s", of->fusion, of->expression, text);
  g_assert_null (found->outside);
  int number = 0, spoiled = 0;
  for (int pass = LIG_PASS_FORWARD; pass <= (int) LIG_PASS_BACKWARD; pass++)
    if (find_group (plan, (LigPass) pass, of->fusion, &number))
      spoiled += spoil_group (plan, (LigPass) pass, number, of->fusion);
  g_assert_cmpint (spoiled, >, 0);
}

static LigPlanOptions
options_of (LigDtype compute)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_NONE;
  options.input_gradient = TRUE;
  options.compute = options.parameters = (int) compute;
  return options;
}

static void
test_fusions (gconstpointer dtype)
{
  LigPlanOptions options = options_of ((LigDtype) GPOINTER_TO_INT (dtype));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&cases[i], &options, TRUE);
}

/* Collectives need ranks: tests/ranks/verification.c. */
static gboolean
collectives (const LigFusion *fusion)
{
  return strstr (fusion->name, "all-") || strstr (fusion->name, "reduce-scatter");
}

static gboolean
has_case (const Case *list, guint count, const char *fusion)
{
  for (guint i = 0; i < count; i++)
    if (g_str_equal (list[i].fusion, fusion))
      return TRUE;
  return g_str_equal (fusion, "forward-linear-bias-gelu-quantize");
}

static void
test_complete (void)
{
  const LigFusion *fusion;
  for (guint i = 0; (fusion = lig_fusion_nth (i)); i++)
    if (!collectives (fusion) && !has_case (cases, G_N_ELEMENTS (cases), fusion->name) &&
        !has_case (quantized, G_N_ELEMENTS (quantized), fusion->name))
      g_error ("%s has no case here", fusion->name);
}

/* The matmul that also writes gelu and its copy occurs in evaluation plans. */
static void
test_evaluation (void)
{
  const Case evaluated = {"forward-linear-bias-gelu-quantize", "linear(32) ! gelu ! linear(32)"};
  LigPlanOptions options = options_of (LIG_BF16);
  options.policy = LIG_POLICY_ALL;
  options.recipe = "fp8-delayed";
  options.training = options.input_gradient = FALSE;
  check_case (&evaluated, &options, FALSE);
}

static void
test_quantized (void)
{
  LigPlanOptions options = options_of (LIG_BF16);
  options.policy = LIG_POLICY_ALL;
  options.recipe = "fp8-current";
  for (guint i = 0; i < G_N_ELEMENTS (quantized); i++)
    check_case (&quantized[i], &options, FALSE);
}

/* --- Whole plans --------------------------------------------------------------------------- */

static const char *const models[] = {
  "embedding(32, vocabulary=50) ! position-embedding(16) ! block(2) { transformer-layer(4, "
  "hidden-dropout=0.1) } ! layer-norm ! linear(50, bias=false, tied=0) ! cross-entropy",
  "embedding(32, vocabulary=50) ! block(2, recompute=all) { transformer-layer(4, "
  "normalization=rms-norm, activation=swiglu, bias=false, rotary=true) } ! linear(50) ! "
  "cross-entropy",
  "embedding(32, vocabulary=50) ! linear(64) ! relu ! dropout(0.2) ! linear(32) ! "
  "mean-squared-error",
};

/* A correct plan is inside with every type and every recipe, including its optimizer step. */
static void
test_plans (void)
{
  static const char *const recipes[] = {"none", "fp8-delayed", "fp8-current", "fp8-rows",
                                        "fp8-block"};
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  for (guint n = 0; n < G_N_ELEMENTS (models); n++)
    for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++)
      for (guint r = 0; r < G_N_ELEMENTS (recipes); r++) {
        LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
        options.policy = LIG_POLICY_ALL;
        options.compute = (int) floating_types[i];
        options.parameters = r % 2 == 0 ? (int) LIG_FP32 : options.compute;
        options.recipe = recipes[r];
        options.optimizer = &optimizer;
        g_autoptr (LigSequence) sequence = new_sequence (models[n], "2x16:int32");
        g_autoptr (LigPlan) plan = compile (sequence, &options);
        g_autoptr (LigVerification) found = verify_with (plan, 3);
        g_autofree char *text = lig_verification_explain (found);
        g_test_message ("%u, %s, %s: %s", n, lig_dtype_name (floating_types[i]), recipes[r], text);
        g_assert_null (found->outside);
        g_assert_cmpuint (found->n_groups, >, 0);
      }
}

static LigPlan *
plan_model (LigOptimizer *optimizer, LigRecompute recompute)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.recompute = recompute;
  options.optimizer = optimizer;
  g_autoptr (LigSequence) sequence = new_sequence (models[0], "2x16:int32");
  return compile (sequence, &options);
}

static LigStatus
run_poisoned (LigLaunch *launch)
{
  LigStatus status = original (launch);
  const LigOperand *output = &launch->operands[spoiled_output];
  float number = NAN;
  lig_narrow (output->dtype, &number, output->data, 1);
  return status;
}

/* A single NaN is outside, and reported as such. */
static void
test_poisoned (void)
{
  const Case matmul = {"forward-linear-bias-add", "basic-linear(32) ! bias ! add-extra-input"};
  LigPlanOptions options = options_of (LIG_FP32);
  g_autoptr (LigSequence) sequence = open_case (&matmul);
  force (sequence, "0", matmul.fusion);
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  LigPlanStep *step = lig_plan_step (plan, plan->phases.forward);
  LigKernel spoiled = *step->kernel;
  const LigKernel *kernel = step->kernel;
  original = kernel->functions[LIG_BACKEND_CPU];
  spoiled.functions[LIG_BACKEND_CPU] = run_poisoned;
  spoiled_output = step->n_inputs;
  step->kernel = &spoiled;
  g_autoptr (LigVerification) found = verify_with (plan, 1);
  step->kernel = kernel;
  g_autofree char *text = lig_verification_explain (found);
  g_assert_nonnull (found->outside);
  g_assert_cmpstr (found->outside->fusion, ==, matmul.fusion);
  g_assert_nonnull (strstr (text, "not finite where the reference is"));
}

/* With a wrong update, the result is outside, while all groups are inside. */
static void
test_update (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigPlan) plan = plan_model (&optimizer, LIG_RECOMPUTE_NONE);
  int at = (int) plan->steps->len - 1;
  const LigPlanStep *step = lig_plan_step (plan, at);
  g_autoptr (LigVerification) found = verify_spoiled (plan, at, step->n_inputs);
  g_assert_cmpint (step->pass, ==, LIG_PASS_UPDATE);
  g_assert_nonnull (found->outside);
  g_assert_cmpint (found->outside->pass, ==, LIG_PASS_UPDATE);
  for (guint i = 0; i < found->n_groups; i++)
    g_assert_false (found->groups[i].outside);
}

/* A value that is wrong only when recomputed is found there. */
static void
test_recompute (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigPlan) plan = plan_model (&optimizer, LIG_RECOMPUTE_ALL);
  int spoiled = 0;
  for (int i = plan->phases.backward; i < plan->phases.update; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    int output = step->n_inputs;
    while (output < step->n_operands && step->operands[output].value < 0)
      output++;
    if (!step->again || output == step->n_operands ||
        !strstr (lig_plan_value (plan, step->operands[output].value)->name, ".y:again"))
      continue;
    g_autoptr (LigVerification) found = verify_spoiled (plan, i, output);
    g_assert_nonnull (found->outside);
    g_assert_true (found->outside->again);
    g_assert_cmpint (found->outside->first, ==, step->part);
    spoiled++;
  }
  g_assert_cmpint (spoiled, >, 3);
}

static void
test_wrong_options (void)
{
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_autoptr (LigPlan) plan = plan_model (&optimizer, LIG_RECOMPUTE_NONE);
  LigVerificationOptions options = LIG_VERIFICATION_OPTIONS_INIT;
  g_autoptr (GError) none = NULL, weights = NULL, missing = NULL;
  options.seeds = 0;
  g_assert_null (lig_plan_verify (plan, &options, &none));
  g_assert_error (none, LIG_ERROR, LIG_ERROR_VALUE);
  options.seeds = 1;
  options.weights = "/nowhere.safetensors";
  g_assert_null (lig_plan_verify (plan, &options, &weights));
  g_assert_nonnull (weights);
  g_assert_null (lig_plan_verify (NULL, NULL, &missing));
  g_assert_error (missing, LIG_ERROR, LIG_ERROR_VALUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (floating_types); i++) {
    g_autofree char *name =
      g_strdup_printf ("/verification/fusions/%s", lig_dtype_name (floating_types[i]));
    g_test_add_data_func (name, GINT_TO_POINTER (floating_types[i]), test_fusions);
  }
  g_test_add_func ("/verification/quantized", test_quantized);
  g_test_add_func ("/verification/evaluation", test_evaluation);
  g_test_add_func ("/verification/complete", test_complete);
  g_test_add_func ("/verification/plans", test_plans);
  g_test_add_func ("/verification/poisoned", test_poisoned);
  g_test_add_func ("/verification/update", test_update);
  g_test_add_func ("/verification/recompute", test_recompute);
  g_test_add_func ("/verification/wrong-options", test_wrong_options);
  return g_test_run ();
}
