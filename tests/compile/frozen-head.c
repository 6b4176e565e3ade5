/* SPDX-License-Identifier: MIT */
/* A frozen head in the kernel that fuses it with its loss: unneeded gradients are not computed, and
 * the others equal those of the unfused ops. */
#include "tests/plan/case.h"
#include <ligature/compile.h>

#define FUSION "joint-linear-cross-entropy"

static const struct {
  const char *head;            /* the last matmul */
  const char *freeze;          /* patterns */
  gboolean gx, gweight, gbias; /* what is computed */
} cases[] = {
  {"linear(9)", NULL, TRUE, TRUE, TRUE},
  {"linear(9, trained=false)", NULL, TRUE, FALSE, FALSE},
  {"linear(9, bias=false, trained=false)", NULL, TRUE, FALSE, FALSE},
  {"linear(9)", "1.weight", TRUE, FALSE, TRUE},
  {"linear(9)", "1.bias", TRUE, TRUE, FALSE},
  {"linear(9)", "0.*", FALSE, TRUE, TRUE},
  {"linear(9, bias=false)", "0.*", FALSE, TRUE, FALSE},
};

static LigSequence *
make (const char *head)
{
  g_autofree char *text = g_strdup_printf ("embedding(6, vocabulary=9) ! %s ! cross-entropy", head);
  return new_sequence (text, "4x3:int32");
}

/* Returns the loss and the gradients of the parameters that are not frozen. */
static Results *
compute_trained (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigState) state = new_state (sequence, options);
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  feed_inputs (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  Results *results = read_results (program, FALSE);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    LigTensor *tensor = lig_state_get (state, LIG_STATE_GRADIENTS, *path, NULL);
    if (tensor)
      results_take (results, g_strdup_printf ("grad.%s", *path), tensor);
  }
  return results;
}

static const LigPlanStep *
find_step (LigPlan *plan, const char *kernel)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (steps[i].kernel->name, kernel))
      return &steps[i];
  return NULL;
}

static gboolean
has (const char *operands, const char *name)
{
  g_auto (GStrv) words = g_strsplit (operands, " ", -1);
  for (char **word = words; *word; word++)
    if (g_str_has_suffix (*word, name) && (*word)[strlen (*word) - strlen (name) - 1] == '.')
      return TRUE;
  return FALSE;
}

static void
check (guint n)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  options.freeze = cases[n].freeze;
  options.policy = LIG_POLICY_NONE;
  g_test_message ("%s, %s frozen", cases[n].head, cases[n].freeze ? cases[n].freeze : "nothing");
  g_autoptr (LigSequence) sequence = make (cases[n].head);
  g_autoptr (Results) alone = compute_trained (sequence, &options);
  const char *const forced[] = {FUSION, NULL};
  lig_op_set_forced (lig_sequence_find (sequence, "1", NULL), forced);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) fused = compute_trained (sequence, &options);
  compare_results (fused, alone, 1e-5, cases[n].head);
  g_assert_cmpint (results_find (fused, "grad.1.weight") != NULL, ==, cases[n].gweight);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  const LigPlanStep *step = find_step (plan, "linear_cross_entropy");
  g_assert_nonnull (step);
  g_autofree char *operands = lig_plan_name_operands (plan, step);
  g_test_message ("%s", operands);
  g_assert_cmpint (has (operands, "gx"), ==, cases[n].gx);
  g_assert_cmpint (has (operands, "gweight"), ==, cases[n].gweight);
  g_assert_cmpint (has (operands, "gbias"), ==, cases[n].gbias);
  /* A matmul of 12 rows, 6 features and 9 classes for the logits and each gradient. */
  int matmuls = 1 + cases[n].gx + cases[n].gweight;
  g_assert_cmpfloat (step->flops, ==, 2.0 * 12 * 6 * 9 * matmuls);
}

static void
test_absent (void)
{
  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    check (n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frozen-head/absent", test_absent);
  return g_test_run ();
}
