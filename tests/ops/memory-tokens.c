/* SPDX-License-Identifier: MIT */
/* The caller provides the memory of cross attention in a model of tokens: it has the compute type
 * and the shape of the line before, as if loaded with both. */
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/expand-macro.h>

static LigPlanOptions
options_of (LigDtype compute)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = options.input_gradient = TRUE;
  options.compute = compute;
  options.parameters = LIG_FP32;
  return options;
}

static Results *
results_of (const char *expression, LigDtype dtype)
{
  LigPlanOptions options = options_of (dtype);
  g_autoptr (LigSequence) sequence = new_sequence (expression, "2x3:int32");
  return compute (sequence, &options);
}

#define TOKENS "embedding(8, vocabulary=9) ! "
#define FOUR "identity ! identity ! identity ! identity ! "
#define RECALLED(type) \
  "make-extra-output(x) ! load-branch(shape=[2, 3, 8], dtype=" type ") ! make-extra-output(m) ! " \
  "load-branch(x) ! "

static void
check_same (const char *caller, const char *recalled, LigDtype compute)
{
  g_autoptr (Results) got = results_of (caller, compute);
  g_autoptr (Results) want = results_of (recalled, compute);
  g_assert_nonnull (results_find (want, "grad.extra.0"));
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++)
    if (distance_between (got->tensors->pdata[i], want->tensors->pdata[i]) != 0)
      g_error ("%s: %s differs", caller, (char *) want->names->pdata[i]);
}

static void
test_same (void)
{
#define LAYER(memory) "transformer-layer(2, layer-type=decoder, memory=" memory ")"
#define HEADS(memory) "multi-head-attention(2, mask=none, memory=" memory ")"
  check_same (TOKENS FOUR LAYER ("caller"), TOKENS RECALLED ("fp32") LAYER ("m"), LIG_FP32);
  check_same (TOKENS FOUR LAYER ("caller"), TOKENS RECALLED ("bf16") LAYER ("m"), LIG_BF16);
  check_same (TOKENS FOUR HEADS ("caller"), TOKENS RECALLED ("fp16") HEADS ("m"), LIG_FP16);
  check_same (TOKENS FOUR "block(1) { " LAYER ("../caller") " }",
              TOKENS RECALLED ("fp32") "block(1) { " LAYER ("../m") " }", LIG_FP32);
}

static void
check_extra (const char *expression, const char *input, LigDtype compute, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = options_of (compute);
  LigShape shape;
  LigDtype dtype;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lig_plan_get_n_extra_inputs (plan), ==, 1);
  lig_plan_get_extra_input (plan, 0, &shape, &dtype);
  g_autofree char *text = lig_shape_to_string (&shape);
  g_autofree char *got = g_strdup_printf ("%s:%s", text, lig_dtype_name (dtype));
  g_assert_cmpstr (got, ==, wanted);
}

/* A floating input keeps its own type, which is converted; only a load-branch may take integers.
 */
static void
test_types (void)
{
  check_extra (TOKENS HEADS ("caller"), "2x3:int32", LIG_BF16, "2x3x8:bf16");
  check_extra (HEADS ("caller"), "2x3x8:fp32", LIG_BF16, "2x3x8:fp32");
  check_extra (HEADS ("caller"), "2x3x8:bf16", LIG_FP32, "2x3x8:bf16");
  check_extra (TOKENS "make-extra-output ! load-branch ! embedding(4, vocabulary=9)", "2x3:int32",
               LIG_BF16, "2x3:int32");
  check_extra (TOKENS "make-extra-output ! load-branch(dtype=floating)", "2x3:int32", LIG_BF16,
               "2x3x8:bf16");
  check_extra (TOKENS "make-extra-output(e) ! load-branch(shape=[-1, 5], dtype=floating) ! "
                      "make-extra-output ! load-branch(e)",
               "2x3:int32", LIG_FP16, "2x5:fp16");
}

/* Expansion keeps the type. */
static void
test_apart (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = options_of (LIG_BF16);
  g_autoptr (LigSequence) sequence = new_sequence (TOKENS HEADS ("caller"), "2x3:int32");
  lig_sequence_expand_macro (sequence, 1, 8, &error);
  g_assert_no_error (error);
  g_autofree char *text = lig_sequence_to_expression (sequence);
  g_assert_nonnull (strstr (text, "load-branch(dtype=floating)"));
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory-tokens/same", test_same);
  g_test_add_func ("/memory-tokens/types", test_types);
  g_test_add_func ("/memory-tokens/apart", test_apart);
  return g_test_run ();
}
