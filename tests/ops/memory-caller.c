/* SPDX-License-Identifier: MIT */
/* The caller provides the memory of cross attention, even if its name has `../` in a block. */
#include "tests/plan/case.h"

static Results *
results_of (const char *expression)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = TRUE;
  options.input_gradient = TRUE;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "2x3x8");
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autoptr (LigProgram) program = new_program (state, sequence, &options);
  g_assert_cmpuint (lig_plan_get_n_extra_inputs (lig_program_get_plan (program)), ==, 1);
  feed_inputs (program);
  feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  return read_results (program, TRUE);
}

static void
check_same (const char *one, const char *other)
{
  g_autoptr (Results) want = results_of (one), got = results_of (other);
  g_assert_nonnull (results_find (want, "grad.extra.0"));
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++)
    g_assert_cmpfloat (distance_between (got->tensors->pdata[i], want->tensors->pdata[i]), ==, 0);
}

static void
test_same (void)
{
  check_same ("block(1) { multi-head-attention(2, mask=none, memory=caller) }",
              "block(1) { multi-head-attention(2, mask=none, memory=../caller) }");
  check_same ("make-extra-output(x) ! load-branch ! make-extra-output(m) ! load-branch(x) ! "
              "transformer-layer(2, layer-type=decoder, memory=m)",
              "identity ! identity ! identity ! identity ! "
              "transformer-layer(2, layer-type=decoder, memory=caller)");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory-caller/same", test_same);
  return g_test_run ();
}
