/* SPDX-License-Identifier: MIT */
/* Ops of attention in plans: gradients with every optional input, wrong inputs, evaluation. */
#include "tests/plan/case.h"

#include <ligature/check.h>

/* Integers from the caller are in [0, 3]. */
static void
gradients (void)
{
  static const struct {
    const char *expression, *input, *output;
    guint callers;
  } forms[] = {
    {"attention(2)", "2x5x24", "2x5x8", 0},
    {"attention(2)", "5x24", "5x8", 0},
    {"attention(4, kv-heads=2, mask=none)", "3x2x5x32", "3x2x5x16", 0},
    {"attention(2, lengths=caller)", "4x5x24", "4x5x8", 1},
    {"attention(2, documents=caller, mask=none)", "2x9x24", "2x9x8", 1},
    {"attention(2, lengths=caller, documents=caller, window=2)", "4x5x24", "4x5x8", 2},
    {"attention(2, memory=caller, mask=none)", "2x5x8", "2x5x8", 1},
    {"attention(2, memory=caller, lengths=caller, mask=causal-bottom-right)", "4x5x8", "4x5x8", 2},
    {"linear(16) ! make-extra-output(m) ! linear(16) ! attention(4, kv-heads=2, memory=m)", "2x5x6",
     "2x5x16", 0},
    {"attention(2, softcap=0.5, alibi=true, scale=2, dropout=0.3)", "2x7x24", "2x7x8", 0},
    {"attention(4, kv-heads=2, window=3, sinks=true, dropout=0.3)", "2x5x32", "2x5x16", 0},
    {"attention(2, lengths=caller, documents=caller, sinks=true)", "4x5x24", "4x5x8", 2},
    {"attention(2, memory=caller, mask=none, sinks=true)", "2x5x8", "2x5x8", 1},
    {"transformer-layer(2, sinks=true, recompute=all)", "2x5x8", "2x5x8", 0},
    {"linear(48) ! qk-norm(2) ! rotary(2, interleaved=true) ! attention(2)", "2x5x8", "2x5x16", 0},
    {"qk-norm(2, kv-heads=1, kind=layer) ! rotary(2, kv-heads=1, fraction=0.5)", "2x5x32", "2x5x32",
     0},
    {"qk-norm(2, kind=l2) ! rotary(2, scaling=llama3, original=4)", "5x48", "5x48", 0},
    {"qk-norm(2, kind=l2) ! rotary(2, scaling=yarn, original=8, base=4, high=2)", "5x48", "5x48",
     0},
    {"linear(6) ! position-embedding(9) ! drop-path(0.3)", "6x5x4", "6x5x6", 0},
  };
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autoptr (GError) error = NULL;
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    LigShape shape;
    LigDtype dtype;
    g_autoptr (LigSequence) sequence = new_sequence (forms[i].expression, forms[i].input);
    g_test_message ("%s @ %s", forms[i].expression, forms[i].input);
    g_autoptr (LigPlan) plan = compile (sequence, &options);
    lig_plan_get_output (plan, &shape, &dtype);
    g_autofree char *text = lig_shape_to_string (&shape);
    g_assert_cmpstr (text, ==, forms[i].output);
    g_assert_cmpuint (lig_plan_get_n_extra_inputs (plan), ==, forms[i].callers);
    lig_check_gradients (sequence, cpu_device (), &options, 3e-3, NULL, &error);
    g_assert_no_error (error);
  }
}

/* A QK norm has the parameters of its kind. */
static void
parameters (void)
{
  static const struct {
    const char *expression;
    guint count;
  } kinds[] = {{"qk-norm(2)", 2}, {"qk-norm(2, kind=l2)", 0}, {"qk-norm(2, kind=layer)", 4}};
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence = new_sequence (kinds[i].expression, "2x5x24");
    g_autoptr (Results) results = compute (sequence, &options);
    guint found = 0;
    for (guint j = 0; j < results->names->len; j++)
      found += g_str_has_prefix (results->names->pdata[j], "grad.0.");
    g_assert_cmpuint (found, ==, kinds[i].count);
  }
}

static void
wrong (void)
{
  static const struct {
    const char *expression, *input;
    LigError code;
    const char *message;
  } cases[] = {
    {"attention(5)", "2x5x24", LIG_ERROR_SHAPE,
     "attention at 0: the number of features is 24; the heads of queries, keys and "
     "values in a packed row are 5, 5 and 5, so expected a multiple of 15"},
    {"attention(4, kv-heads=3)", "2x5x24", LIG_ERROR_VALUE,
     "attention at 0: heads is 4, expected a multiple of kv-heads, 3"},
    {"make-extra-output(l) ! linear(24) ! attention(2, lengths=l)", "2x5x24", LIG_ERROR_SHAPE,
     "attention at 2: lengths is 2x5x24, expected 2"},
    {"linear(15) ! make-extra-output(m) ! linear(8) ! attention(2, memory=m)", "2x5x24",
     LIG_ERROR_SHAPE, "attention at 3: memory is 2x5x15, expected 2x5x16"},
    {"attention(2, memory=caller, documents=caller)", "2x5x24", LIG_ERROR_CHANNEL,
     "attention at 0: it has documents and memory, expected one of them at most"},
    {"rotary(2, fraction=0.8)", "2x5x24", LIG_ERROR_SHAPE,
     "rotary at 0: it rotates 3 of a head dim of 4, expected an even number"},
    {"rotary(2, scaling=llama3, low=4)", "2x5x24", LIG_ERROR_VALUE,
     "rotary at 0: low is 4, expected less than high, 4"},
    {"rotary(2, scaling=yarn, low=32, high=32)", "2x5x24", LIG_ERROR_VALUE,
     "rotary at 0: low is 32, expected less than high, 32"},
    {"rotary(2, scaling=yarn, base=1)", "2x5x24", LIG_ERROR_VALUE,
     "rotary at 0: base is 1, expected more than 1 with scaling=yarn"},
    {"position-embedding(4)", "2x5x24", LIG_ERROR_SHAPE,
     "position-embedding at 0: input has 5 positions, expected at most 4"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, TRUE);
    g_autoptr (LigSequence) sequence = new_sequence (cases[i].expression, cases[i].input);
    check_rejected (sequence, &options, cases[i].code, cases[i].message);
  }
}

/* YaRN's factor of queries and keys is 0.1 ln (factor) + 1 by default. */
static void
magnitude (void)
{
  const char *const pairs[][2] = {
    {"rotary(1, scaling=yarn, high=32, factor=32)",
     "rotary(1, scaling=yarn, high=32, factor=32, magnitude=1.34657359)"},
    {"rotary(1, scaling=yarn, high=32, factor=0.5)",
     "rotary(1, scaling=yarn, high=32, factor=0.5, magnitude=1)"}};
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    LigPlanOptions options = plan_options (LIG_POLICY_ALL, FALSE);
    g_autoptr (LigSequence) omitted = new_sequence (pairs[i][0], "2x9x24");
    g_autoptr (LigSequence) given = new_sequence (pairs[i][1], "2x9x24");
    g_autoptr (Results) want = compute (given, &options);
    g_autoptr (Results) got = compute (omitted, &options);
    g_assert_cmpfloat (
      distance_between (results_find (got, "output"), results_find (want, "output")), <, 1e-6);
  }
}

/* Attention dropout is off in evaluation. */
static void
evaluation (void)
{
  LigPlanOptions options = plan_options (LIG_POLICY_ALL, FALSE),
                 training = plan_options (LIG_POLICY_ALL, TRUE);
  g_autoptr (LigSequence) plain = new_sequence ("attention(2)", "2x9x24");
  g_autoptr (LigSequence) drops = new_sequence ("attention(2, dropout=0.5)", "2x9x24");
  g_autoptr (Results) want = compute (plain, &options);
  g_autoptr (Results) got = compute (drops, &options);
  g_autoptr (Results) trained = compute (drops, &training);
  const LigTensor *a = results_find (want, "output"), *b = results_find (got, "output");
  g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
  g_assert_cmpfloat (distance_between (a, results_find (trained, "output")), >, 0.1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attention/gradients", gradients);
  g_test_add_func ("/attention/parameters", parameters);
  g_test_add_func ("/attention/wrong", wrong);
  g_test_add_func ("/attention/magnitude", magnitude);
  g_test_add_func ("/attention/evaluation", evaluation);
  return g_test_run ();
}
