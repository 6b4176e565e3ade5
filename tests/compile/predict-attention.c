/* SPDX-License-Identifier: MIT */
/* Predictions of steps that matmul rates do not explain: attention, embedding gradients, additions
 * with an fp32 bias; compared with launches on an H200. */
#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>

#include <math.h>
#include <string.h>

static void
forget_attention (LigDeviceFacts *facts)
{
  memset (facts->costs.attention, 0, sizeof facts->costs.attention);
}

static void
forget_mixed (LigDeviceFacts *facts)
{
  memset (facts->costs.mixed, 0, sizeof facts->costs.mixed);
}

/* A device with matmuls that are slow at adding a matrix and an fp32 bias. */
static void
slow_mixed (LigDeviceFacts *facts)
{
  double *add = facts->costs.mixed + (LIG_MIXED_COSTS - 1) * LIG_COST_SIZES;
  for (int i = 0; i < LIG_COST_SIZES; i++)
    add[i] *= 10;
}

static LigPlan *
compile (const char *expression,
         const char *input,
         LigPolicy policy,
         LigDtype parameters,
         void (*change) (LigDeviceFacts *facts))
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigShape shape;
  LigDtype dtype;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_parse (input, &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigDeviceFacts facts = *lig_device_get_facts (device);
  if (change)
    change (&facts);
  lig_device_set_facts (device, &facts);
  options.training = TRUE;
  options.input_gradient = dtype != LIG_INT32;
  options.policy = policy;
  options.compute = LIG_BF16;
  options.parameters = parameters;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the predicted seconds of the steps of a kernel. */
static double
predict (LigPlan *plan, const char *kernel)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (steps[i].kernel && g_str_equal (steps[i].kernel->name, kernel))
      seconds += steps[i].predicted;
  return seconds;
}

static double
attention (const char *expression,
           const char *input,
           const char *kernel,
           void (*change) (LigDeviceFacts *facts))
{
  g_autoptr (LigPlan) plan = compile (expression, input, LIG_POLICY_NONE, LIG_BF16, change);
  return predict (plan, kernel);
}

static void
check_near (double got, double want, double error)
{
  if (!(fabs (got / want - 1) <= error))
    g_error ("predicted %g s, measured %g s", got, want);
}

#define GPT2 "64x1024x2304:bf16"
#define LLAMA "8x2048x6144:bf16"

static void
test_attention (void)
{
  const char *gpt2 = "attention(12)", *back = "attention_backward";
  check_near (attention (gpt2, GPT2, "attention", NULL), 305e-6, 0.1);
  check_near (attention (gpt2, GPT2, back, NULL), 1.13e-3, 0.1);
  check_near (attention ("attention(32, kv-heads=8)", LLAMA, "attention", NULL), 490e-6, 0.1);
  /* The built-in kernel runs where cuDNN cannot. */
  check_near (attention ("attention(12, dropout=0.1)", GPT2, "attention", NULL), 536e-6, 0.1);
  check_near (attention ("attention(12, dropout=0.1)", GPT2, back, NULL), 1.79e-3, 0.1);
  /* A window sees fewer keys, and an unmasked attention more. */
  double causal = attention (gpt2, GPT2, "attention", NULL);
  g_assert_cmpfloat (attention ("attention(12, window=128)", GPT2, "attention", NULL), <, causal);
  g_assert_cmpfloat (attention ("attention(12, mask=none)", GPT2, "attention", NULL), >,
                     1.2 * causal);
  /* Without figures, attention is predicted as a matmul, and also with fp32. */
  double matmul = attention (gpt2, GPT2, "attention", forget_attention);
  check_near (matmul, 151e-6, 0.1);
  g_assert_cmpfloat (attention (gpt2, GPT2, back, forget_attention), >, 2 * matmul);
}

/* The time of an embedding's gradient depends on the number of tokens, not on their bytes. */
static void
test_embedding (void)
{
  const char *back = "embedding_backward";
  check_near (attention ("embedding(1024, vocabulary=50304)", "65536:int32", back, NULL), 109e-6,
              0.35);
  check_near (attention ("embedding(1024, vocabulary=256)", "65536:int32", back, NULL), 68.4e-6,
              0.35);
}

#define MLP \
  "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! " \
  "add-extra-input(from=r)"

static guint
count_fusions (LigPlan *plan, const char *fusion)
{
  guint count, found = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  for (guint i = 0; i < count; i++)
    found += groups[i].fusion && g_str_equal (groups[i].fusion->name, fusion);
  return found;
}

/* The policy does not fuse a residual that is slow with an fp32 bias; with a bias of the result's
 * type, and without figures, it does. The described GPU rounds the bias first. */
static void
test_mixed (void)
{
  const char *input = "65536x768:bf16", *add = "forward-linear-bias-add";
  g_autoptr (LigPlan) card = compile (MLP, input, LIG_POLICY_ALL, LIG_FP32, NULL);
  g_autoptr (LigPlan) all = compile (MLP, input, LIG_POLICY_ALL, LIG_FP32, slow_mixed);
  g_autoptr (LigPlan) same = compile (MLP, input, LIG_POLICY_ALL, LIG_BF16, NULL);
  g_autoptr (LigPlan) older = compile (MLP, input, LIG_POLICY_ALL, LIG_FP32, forget_mixed);
  g_assert_cmpfloat (predict (all, "linear_bias_add"), >, 1.5 * predict (same, "linear_bias_add"));
  g_assert_cmpfloat_with_epsilon (predict (card, "linear_bias_add"),
                                  predict (same, "linear_bias_add"), 5e-6);
  g_assert_cmpfloat_with_epsilon (predict (older, "linear_bias_add"),
                                  predict (same, "linear_bias_add"), 1e-6);
  g_assert_cmpuint (count_fusions (all, add), ==, 1);
  g_autoptr (LigPlan) chosen = compile (MLP, input, LIG_POLICY_MEASURED, LIG_FP32, slow_mixed);
  g_autoptr (LigPlan) before = compile (MLP, input, LIG_POLICY_MEASURED, LIG_FP32, forget_mixed);
  g_assert_cmpuint (count_fusions (chosen, add), ==, 0);
  g_assert_cmpuint (count_fusions (before, add), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/attention", test_attention);
  g_test_add_func ("/predict/embedding", test_embedding);
  g_test_add_func ("/predict/mixed", test_mixed);
  return g_test_run ();
}
